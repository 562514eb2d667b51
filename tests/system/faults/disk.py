"""A disk that is full: PostgreSQL fails statements, may end over its log, and is started again like by any init."""

import asyncio
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.system.cells import CellServer
from tests.system.cluster import Cluster
from tests.system.faults.fault import Facts, Fault

CHUNK = b"\0" * (1 << 16)


class FullDisk(Fault):
    """Not a byte is left where a cell keeps its data; after a while the space returns."""

    name = "full-disk"

    def seconds(self, cluster: Cluster, chance: random.Random) -> float:
        return max(2.0 * cluster.ttl, 4.0)

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        cell = next(cell for cell in cluster.cells if cell.mounted)
        ballast = cell.data / "ballast"
        facts: Facts = {"cell": cell.name, "restarts": 0}
        init = asyncio.create_task(_fill_and_restart(cell, ballast, facts))
        try:
            yield facts
        finally:
            init.cancel()
            await asyncio.gather(init, return_exceptions=True)
            ballast.unlink(missing_ok=True)
            facts["back_after"] = round(await cell.ready(), 3)

    def impossible(self, cluster: Cluster) -> str | None:
        return None if any(cell.mounted for cell in cluster.cells) else "no cell has a disk of its own (needs root)"


async def _fill_and_restart(cell: CellServer, ballast: Path, facts: Facts) -> None:
    """Keep it full, also of what the server frees, and the server running, until cancelled."""
    with ballast.open("wb", buffering=0) as file:
        while True:
            with suppress(OSError):
                free = os.statvfs(cell.data)
                if (size := free.f_bavail * free.f_frsize) > len(CHUNK):
                    end = file.seek(0, os.SEEK_END)
                    os.posix_fallocate(file.fileno(), end, size)
            if not cell.running:
                facts["restarts"] += 1
                cell.start()
            await asyncio.sleep(0.2)
