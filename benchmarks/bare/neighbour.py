"""PgQueuer with no-op jobs, for comparison: `python -m benchmarks.bare.neighbour DSN SECONDS PROCESSES BATCH`.

Its queue lives in a database of its own in the same server, with the same durability. A job is done when its row is
gone from the queue, which is when the transaction that logs it commits; rows are counted before and after.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from importlib.metadata import version

import asyncpg
import uvloop
from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
from pgqueuer.qm import QueueManager
from pgqueuer.queries import Queries

VERSION = version("pgqueuer")
NAME = "nothing"
CHUNK = 10_000


async def work(dsn: str, batch: int) -> None:
    """One process: work until told to end."""
    connection = await asyncpg.connect(dsn)
    manager = QueueManager(Queries(AsyncpgDriver(connection)))

    @manager.entrypoint(NAME)
    async def nothing(_job: object) -> None:
        """A job that does nothing."""

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, manager.shutdown.set)
    await manager.run(batch_size=batch, dequeue_timeout=timedelta(seconds=1), log_aggregation_interval=timedelta(0))


async def fill(dsn: str, number: int) -> None:
    """So many jobs wait; what an earlier slice left is taken away first."""
    connection = await asyncpg.connect(dsn)
    queries = Queries(AsyncpgDriver(connection))
    if not await connection.fetchval("select to_regclass('pgqueuer')"):
        await queries.install()
    await connection.execute("truncate pgqueuer, pgqueuer_log")
    for _ in range(0, number, CHUNK):
        await queries.enqueue([NAME] * CHUNK, [b'{"n": 1}'] * CHUNK, [0] * CHUNK)
    await connection.execute("vacuum analyze pgqueuer")
    await connection.close()


async def _waiting(connection: "asyncpg.Connection[asyncpg.Record]") -> int:
    return int(await connection.fetchval("select count(*) from pgqueuer"))


async def measure(dsn: str, seconds: float, processes: int, batch: int) -> tuple[int, float]:
    """How many were done in how many seconds, by so many processes; it begins when the first are done."""
    connection = await asyncpg.connect(dsn)
    command = [sys.executable, "-m", "benchmarks.bare.neighbour", "work", dsn, str(batch)]
    started = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(processes)]
    try:
        full = await _waiting(connection)
        while await _waiting(connection) > full - 2000:
            assert all(one.poll() is None for one in started), "PgQueuer ended"
            await asyncio.sleep(0.05)
        began, before = time.monotonic(), await _waiting(connection)
        await asyncio.sleep(seconds)
        left, took = await _waiting(connection), time.monotonic() - began
        assert left, "the queue ran dry: it was filled with too little"
        return before - left, took
    finally:
        for one in started:
            one.send_signal(signal.SIGTERM)
        for one in started:
            try:
                one.wait(30)
            except subprocess.TimeoutExpired:
                os.kill(one.pid, signal.SIGKILL)
                one.wait()
        await connection.close()


if __name__ == "__main__":
    if sys.argv[1] == "work":
        uvloop.run(work(sys.argv[2], int(sys.argv[3])))
    else:
        print(json.dumps(uvloop.run(measure(sys.argv[1], *map(float, sys.argv[2:])))))  # type: ignore[arg-type]
