"""A disk that is full: PostgreSQL fails statements, may end over its log, and is started again like by any init."""

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import asyncpg

from tests.system.cells import CellServer
from tests.system.cluster import Cluster
from tests.system.faults.fault import Facts, Fault

GONE = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)
USE_UP = "select pg_logical_emit_message(false, 'horae', 'full'), pg_switch_wal()"
SEGMENTS = 64
RESTART = 0.5
"""Seconds between two starts."""


class FullDisk(Fault):
    """Not a byte is left where a cell keeps its data: no table grows. Half the time its log is used up as well.

    Then the server ends, and cannot come back before there is space again.
    """

    name = "full-disk"

    def seconds(self, cluster: Cluster, chance: random.Random) -> float:
        return chance.uniform(4.0, 8.0)

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        cell = next(cell for cell in cluster.cells if cell.mounted)
        ballast = cell.data / "ballast"
        facts: Facts = {"cell": cell.name, "log_too": chance.random() < 0.5, "restarts": 0}
        troubles = [asyncio.create_task(_fill_and_restart(cell, ballast, facts))]
        if facts["log_too"]:
            troubles.append(asyncio.create_task(_use_up_log(cell, ballast)))
        try:
            yield facts
        finally:
            for trouble in troubles:
                trouble.cancel()
            await asyncio.gather(*troubles, return_exceptions=True)
            ballast.unlink(missing_ok=True)
            facts["back_after"] = round(await cell.ready(), 3)

    def impossible(self, cluster: Cluster) -> str | None:
        return None if any(cell.mounted for cell in cluster.cells) else "no cell has a disk of its own (needs root)"


async def _fill_and_restart(cell: CellServer, ballast: Path, facts: Facts) -> None:
    """Keep it full, also of what the server frees, and the server running, until cancelled."""
    tried = 0.0
    with ballast.open("wb", buffering=0) as file:
        while True:
            with suppress(OSError):
                free = os.statvfs(cell.data)
                if size := free.f_bavail * free.f_frsize:
                    end = file.seek(0, os.SEEK_END)
                    os.posix_fallocate(file.fileno(), end, size)
            if not cell.running and time.monotonic() - tried > RESTART:
                tried = time.monotonic()
                facts["restarts"] += 1
                cell.start()
            await asyncio.sleep(0.05)


async def _use_up_log(cell: CellServer, ballast: Path) -> None:
    """Begin segment after segment, until there is none left to begin."""
    while not ballast.exists() or not ballast.stat().st_size:
        await asyncio.sleep(0.01)
    with suppress(*GONE):
        connection = await asyncpg.connect(cell.dsn, timeout=5)
        try:
            for _ in range(SEGMENTS):
                await connection.fetch(USE_UP, timeout=5)
        finally:
            connection.terminate()
