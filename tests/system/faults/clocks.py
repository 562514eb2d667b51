"""Clocks that jump or run wrong: a node's, which must change nothing, and a database's, which must stop its cell."""

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.system.cells import CellServer
from tests.system.cluster import Cluster
from tests.system.faketime import faketime
from tests.system.faults.fault import Facts, Fault

STEPS = ("+1h", "-1h", "+10m", "-10m", "+0 x1.1")
ALARM = '"clock.jumped"'


class NodeClock(Fault):
    """A node's wall clock is off by an hour or ten minutes, or drifts by a tenth; then it is right again."""

    name = "node-clock"

    def __init__(self, step: str | None = None) -> None:
        self.step = step

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        node = next(node for node in cluster.nodes if node.clock_file)
        step = self.step or chance.choice(STEPS)
        try:
            node.move_clock(step)
            yield {"node": node.name, "step": step}
        finally:
            node.move_clock("+0")

    def impossible(self, cluster: Cluster) -> str | None:
        return None if faketime() else "libfaketime is not installed"


class DatabaseClock(Fault):
    """A cell's database is eight hours ahead: its nodes raise an alarm and fire nothing until the clock is right.

    Then someone also says `horae cell trust-clock`. The server gets a clock that can be moved just for this.
    """

    name = "database-clock"
    step = "+8h"

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        cell = next(cell for cell in cluster.cells if cell.clock_file)
        facts: Facts = {"cell": cell.name, "step": self.step}
        try:
            await cell.use_clock(own=True)
            await cluster.ready()
            sizes = {node.log: _size(node.log) for node in cluster.nodes if node.running and not node.paused}
            facts["stepped"] = time.time()
            cell.move_clock(self.step)
            facts["alarm_after"] = await _alarmed(sizes, cell)
            yield facts
        finally:
            cell.move_clock("+0")
            await cell.use_clock(own=False)
            facts["set_right"] = time.time()
            await _trust(cluster, cell)

    def impossible(self, cluster: Cluster) -> str | None:
        return None if faketime() else "libfaketime is not installed"


async def _alarmed(sizes: dict[Path, int], cell: CellServer, seconds: float = 20.0) -> float | None:
    """After how many seconds every node that is up has raised its alarm; None: not within the time."""
    began, waiting = time.time(), set(sizes)
    while waiting and time.time() - began < seconds:
        waiting = {log for log in waiting if not _says(log, sizes[log], cell.name)}
        await asyncio.sleep(0.1)
    return None if waiting else round(time.time() - began, 3)


def _says(log: Path, offset: int, cell: str) -> bool:
    with log.open("rb") as file:
        file.seek(offset)
        return any(ALARM in line and f'"{cell}"' in line for line in file.read().decode(errors="replace").splitlines())


def _size(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


async def _trust(cluster: Cluster, cell: CellServer) -> None:
    """What an operator types, sent to the databases themselves."""
    cells = json.dumps([{"name": one.name, "dsn": one.dsn} for one in cluster.cells])
    env = {**os.environ, "HORAE_CELLS": cells, "HORAE_ENVIRONMENT": "test"}
    command = [sys.executable, "-m", "horae", "cell", "trust-clock", cell.name, "--reason", "the fault is over"]
    process = await asyncio.create_subprocess_exec(*command, env=env, stdout=asyncio.subprocess.DEVNULL)
    async with asyncio.timeout(30):
        assert await process.wait() == 0, "trust-clock failed"
