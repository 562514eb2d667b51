"""A synchronous standby of the tests' own server, for a quick failover without Patroni."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import asyncpg

from horae.runtime.settings import CellSettings
from tests.cluster import SETTINGS, running_replica
from tests.memory import quick_folder
from tests.steps import until

STREAMS = "select count(*) from pg_stat_replication where state = 'streaming'"


class Standby:
    """`cells` name the primary and the standby. `promote` tells the primary nothing: it goes on answering."""

    def __init__(self, cells: Sequence[CellSettings], port: int) -> None:
        self._given = cells
        self._port = port
        self.cells = [cell.model_copy(update={"dsn": self._both(cell.dsn)}) for cell in cells]

    async def promote(self) -> None:
        """Make the standby a primary."""
        await self._run(self._at(self._given[0].dsn), "select pg_promote(true, 30)")

    async def require(self) -> None:
        """From now on every commit of the primary waits for the standby."""
        await until(self._streams, 30)
        for cell in self._given:
            database = urlsplit(cell.dsn).path.strip("/")
            await self._run(cell.dsn, f'alter database "{database}" set synchronous_commit = on')
        await self._run(self._given[0].dsn, "alter system set synchronous_standby_names = '*'")
        await self._run(self._given[0].dsn, "select pg_reload_conf()")

    async def release(self) -> None:
        """No commit waits any more."""
        await self._run(self._given[0].dsn, "alter system reset synchronous_standby_names")
        await self._run(self._given[0].dsn, "select pg_reload_conf()")

    async def _streams(self) -> bool:
        return bool(await self._run(self._given[0].dsn, STREAMS))

    async def _run(self, dsn: str, statement: str) -> object:
        connection = await asyncpg.connect(dsn)
        try:
            return await connection.fetchval(statement)
        finally:
            await connection.close()

    def _at(self, dsn: str) -> str:
        parts = urlsplit(dsn)
        return parts._replace(netloc=f"{parts.username}@127.0.0.1:{self._port}").geturl()

    def _both(self, dsn: str) -> str:
        parts = urlsplit(dsn)
        return f"postgresql://{parts.username}@127.0.0.1:{parts.port},127.0.0.1:{self._port}{parts.path}"


@asynccontextmanager
async def standby_of(cells: Sequence[CellSettings]) -> AsyncIterator[Standby]:
    """A standby that follows, and that every commit waits for while the block lasts."""
    settings = SETTINGS | {"recovery_min_apply_delay": "0", "shared_buffers": "32MB"}
    port = urlsplit(cells[0].dsn).port
    assert port is not None
    with quick_folder("horae-standby") as folder, running_replica(folder, port, settings) as own:
        standby = Standby(cells, own)
        await standby.require()
        try:
            yield standby
        finally:
            await asyncio.shield(standby.release())
