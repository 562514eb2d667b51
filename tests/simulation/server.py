"""One warm PostgreSQL database for many seeds: real statements, one at a time, each an instant of virtual time.

The database is asked from inside the virtual loop and answers before that goes on, so a statement is atomic and its
place in the order is the seed's. A transaction is one step too: nothing of others comes in between.
"""

import asyncio
from asyncio import events
from collections.abc import Coroutine
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any

import asyncpg

from horae.store import cells
from horae.store.databases import partitions
from horae.store.statements import sql
from horae.store.tx import Tx
from tests.simulation.day import EPOCH

RESET = """
delete from instance_live; delete from instance_history; delete from job_cursor; delete from task_key;
delete from dead_letter; delete from outbox; delete from audit_log; delete from job_version; delete from job;
delete from node; delete from idempotency; delete from reference where kind <> 'tenant';
update shard set owner = null, epoch = 0 where owner is not null or epoch <> 0
"""
VACUUM = (
    "vacuum instance_live, instance_history, job_cursor, task_key, outbox, audit_log, job, job_version, node, shard, "
    "dead_letter, reference"
)
SWEPT_AFTER = 40
SHARDS = 4
SQL = Path(str(resources.files("horae.store"))) / "sql"
NAMES = {
    sql(name): name
    for file in SQL.rglob("*.sql")
    if not (name := file.relative_to(SQL).with_suffix("").as_posix()).startswith("parts/")
}


class Server:
    """A connection that is used by everyone, and what of the database a seed begins with."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self._loop = asyncio.SelectorEventLoop()
        self._used = 0
        self.connection = self.wait(self._connect())

    def wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        """What really happens, now."""
        virtual = events._get_running_loop()
        events._set_running_loop(self._loop)
        try:
            task = self._loop.create_task(work)
            while not task.done():
                self._loop._run_once()  # type: ignore[attr-defined]  # without what only a whole run needs
            return task.result()
        finally:
            events._set_running_loop(virtual)

    def prepare(self, shards: list[int]) -> None:
        """The tenant's four shards and the partitions of the day on which everything happens."""
        self.wait(self._prepare(shards))

    def reset(self) -> None:
        """As new, but for the tenant."""
        self._used += 1
        if self._used % SWEPT_AFTER == 0:
            self.wait(self.connection.execute(VACUUM))
        self.wait(self.connection.execute(RESET))

    def close(self) -> None:
        self.wait(self.connection.close())
        self._loop.close()

    async def _connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        settings = cells.SESSION | {"application_name": "simulation", "synchronous_commit": "off"}
        connection = await asyncpg.connect(self.dsn, server_settings=settings, statement_cache_size=500)
        with suppress(OSError):  # nearer, where the server lives on this machine
            folder = await connection.fetchval("select current_setting('unix_socket_directories')")
            near = await asyncpg.connect(self.dsn, host=folder, server_settings=settings, statement_cache_size=500)
            await connection.close()
            connection = near
        await cells.use_json(connection)
        return connection

    async def _prepare(self, shards: list[int]) -> None:
        await self.connection.execute("alter table audit_log disable trigger audit_stays")  # each seed begins as new
        await partitions.ensure(Tx(self.connection, EPOCH), EPOCH.date(), 2)
        await self.connection.execute("delete from shard where shard_id <> all($1::smallint[])", shards)
        await self.connection.execute("update shard set state = 'ACTIVE'")
