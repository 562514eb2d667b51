"""PostgreSQL that stops as when the power goes, or loses one backend after another."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import asyncpg

from tests.system.cells import CellServer
from tests.system.cluster import Cluster
from tests.system.faults.fault import Facts, Fault

PACE = 0.03
GONE = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)
END_ONE = """
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name like 'horae%' and pid <> pg_backend_pid() order by random() limit 1
"""


class StopPostgres(Fault):
    """An `immediate` stop of one cell, and its start with recovery."""

    name = "postgres-stop"

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        cell = chance.choice(cluster.cells)
        facts: Facts = {"cell": cell.name}
        try:
            await cell.stop("immediate")
            yield facts
        finally:
            if not cell.running:
                cell.start()
            facts["back_after"] = round(await cell.ready(), 3)


class TerminateStorm(Fault):
    """`pg_terminate_backend` on one of our backends every 30 ms, in every cell."""

    name = "terminate-storm"

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        facts: Facts = {"ended": 0}
        storms = [asyncio.create_task(_storm(cell, facts)) for cell in cluster.cells]
        try:
            yield facts
        finally:
            for storm in storms:
                storm.cancel()
            await asyncio.gather(*storms, return_exceptions=True)


async def _storm(cell: CellServer, facts: Facts) -> None:
    """Until cancelled, whatever happens to the server meanwhile."""
    while True:
        with suppress(*GONE):
            connection = await asyncpg.connect(cell.dsn, timeout=5)
            try:
                while True:
                    facts["ended"] += len(await connection.fetch(END_ONE, timeout=5))
                    await asyncio.sleep(PACE)
            finally:
                connection.terminate()
        await asyncio.sleep(PACE)
