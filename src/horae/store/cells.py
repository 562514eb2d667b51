"""The cells: each has one PostgreSQL cluster, a pool of connections and the clock of that cluster."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import asyncpg
import msgspec

from horae.runtime.clock import Clock
from horae.store.connections import direct_connection
from horae.store.connections.array_types import register_arrays
from horae.store.connections.connections import (
    BEGIN,
    BEGIN_ON_PRIMARY,
    discard_idle_connections,
    idle_connection,
    transaction_connection,
)
from horae.store.connections.deadlines import ANSWER_TIMEOUT_S, wait_for_answer
from horae.store.connections.direct_connection import CONNECT_TIMEOUT_S, keep_alive
from horae.store.connections.pool_waits import PoolWaits
from horae.store.connections.primary import IdentifiedConnection, connect_to_primary
from horae.store.connections.reachability import Reach
from horae.store.connections.transports import addresses_of
from horae.store.databases import clock as clocks
from horae.store.health.counters import SignalCounts
from horae.store.health.level_counts import LevelCounts
from horae.store.measures.book import MeasureBook
from horae.store.transactions import CellTransactions
from horae.store.tx import GONE, Tx

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

SESSION = direct_connection.SESSION | {
    "application_name": "horae",
    "statement_timeout": "5s",
    "idle_in_transaction_session_timeout": "10s",  # the lower bound of the due scan relies on this
    # Every hot statement is a nested loop over the index it was written for. On small tables with many updates and old
    # statistics the planner may choose another plan, so the alternatives are switched off.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
OWN: Final[dict[str, Any]] = {
    "connect": connect_to_primary,
    "connection_class": IdentifiedConnection,
    "server_settings": SESSION,
}
"""Connection settings for a direct connection to PostgreSQL."""
POOLED: Final[dict[str, Any]] = {
    "statement_cache_size": 0,
    "server_settings": {"application_name": "horae", "timezone": "UTC"},
}
"""Connection settings behind a pooler: prepared statements end with their transaction; the role has the settings."""


class Cell(CellTransactions):
    """One PostgreSQL cluster that holds some shards."""

    def __init__(
        self,
        name: str,
        dsn: str,
        *,
        connections: int = 10,
        direct_dsn: str | None = None,
        upkeep_dsn: str | None = None,
        pooled: bool = False,
    ) -> None:
        self.name = name
        self.dsn = direct_dsn or dsn
        self._pool_dsn = dsn
        self._upkeep_dsn = upkeep_dsn or self.dsn
        self.pooled = pooled
        self.clock = Clock()
        self.signal_counts = SignalCounts()
        self.level_counts = LevelCounts()
        self.measures = MeasureBook()
        self.reach = Reach(name)
        self.pool_waits = PoolWaits()
        self.connections = connections
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None

    async def open(self) -> None:
        """Connect and read the cell's clock. Raises if the cell does not answer, and then closes the pool again."""
        try:
            self._pool = await asyncpg.create_pool(
                self._pool_dsn,
                min_size=0,  # asyncpg restores a minimum repeatedly while a cell is down, with a traceback each time
                max_size=self.connections,
                init=_prepare_pooled if self.pooled else _prepare,
                reset=_reset_nothing,
                timeout=CONNECT_TIMEOUT_S,
                **(POOLED if self.pooled else OWN),
            )
            await self.sync_clock()
        except BaseException as error:
            if isinstance(error, GONE):
                self.reach.mark_down(error, connecting=True)
            await self.close()
            raise
        self.reach.mark_up()

    async def close(self) -> None:
        """Close all connections of the pool. Connections that do not close in time are terminated."""
        pool, self._pool = self._pool, None
        if pool is not None:
            try:
                async with asyncio.timeout(ANSWER_TIMEOUT_S):
                    await pool.close()
            except TimeoutError:
                pool.terminate()

    async def sync_clock(self, patience: float | None = None) -> None:
        """Read the database's clock again. This runs at the start and with every heartbeat."""
        async with self._statement_connection() as connection:
            sent = self.clock.ticks()
            try:
                reading = await wait_for_answer(connection, clocks.read(connection), patience)
            except GONE as error:
                self.reach.mark_down(error)
                raise
            reading.apply_to(self.clock, sent)
        self.reach.mark_up()

    def discard_idle_connections(self) -> None:
        """Close every idle connection, so that the next caller opens a new one."""
        if self._pool is not None:
            discard_idle_connections(self._pool)

    @property
    def is_open(self) -> bool:
        """Whether the cell has answered since this process started."""
        return self._pool is not None

    @property
    def pool(self) -> "asyncpg.Pool[asyncpg.Record]":
        """The open pool. Raises ConnectionError for a cell that has not answered yet, as for a cell that is down."""
        if self._pool is None:
            raise ConnectionError(f"{self.name} is not open")
        return self._pool

    @property
    def hosts(self) -> int:
        """How many hosts the DSN names: several are the members of a replicated cell."""
        return len(addresses_of(self.dsn))

    @property
    def owned(self) -> bool:
        """Whether the settings name no other role for upkeep, so that this role owns the tables."""
        return self._upkeep_dsn == self.dsn

    def as_owner(self) -> "Cell":
        """The same cell with two connections of the owner role, not yet open."""
        return Cell(self.name, self._upkeep_dsn, connections=2)

    def share(self, clock: Clock, reach: Reach) -> None:
        """Use the clock and the reach of another connection to this cell: each heartbeat there sets the clock."""
        self.clock, self.reach = clock, reach

    def share_counts(self, counts: SignalCounts, levels: LevelCounts, measures: MeasureBook) -> None:
        """Count into the counters of another connection to this cell, so that one process has one sum.

        It also knows the same measures.
        """
        self.signal_counts, self.level_counts, self.measures = counts, levels, measures

    def as_pooled(self) -> "Cell":
        """The same cell with one connection of the pool's kind, not yet open."""
        return Cell(self.name, self._pool_dsn, connections=1, pooled=self.pooled)

    @asynccontextmanager
    async def tx(self) -> AsyncIterator[Tx]:
        """A transaction: committed at the end of the block, rolled back when it raises."""
        async with self._transaction_connection() as connection:
            yield Tx(connection, self.clock.now(), reach=self.reach)

    @asynccontextmanager
    async def statement(self) -> AsyncIterator[Tx]:
        """A connection on which each statement commits by itself: for reads, and for writes of one statement."""
        async with self._statement_connection() as connection:
            yield Tx(connection, self.clock.now(), reach=self.reach)

    def _statement_connection(self) -> "AbstractAsyncContextManager[PoolConnectionProxy[asyncpg.Record]]":
        """A connection for single statements. Behind a pooler only a transaction stays on one server."""
        return (
            self._transaction_connection()
            if self.pooled
            else idle_connection(self.pool, self.connections, self.reach, self.pool_waits)
        )

    def _transaction_connection(self) -> "AbstractAsyncContextManager[PoolConnectionProxy[asyncpg.Record]]":
        opening = BEGIN_ON_PRIMARY if self.pooled else BEGIN
        return transaction_connection(self.pool, self.connections, self.reach, self.pool_waits, opening)

    def begun(self, opening: str) -> "AbstractAsyncContextManager[PoolConnectionProxy[asyncpg.Record]]":
        """A connection with a transaction that the statement `opening` begins."""
        return transaction_connection(self.pool, self.connections, self.reach, self.pool_waits, opening)

    @asynccontextmanager
    async def direct(self, *, owner: bool = False) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
        """A connection outside the pool and without a statement timeout: for upkeep that takes long.

        `owner`: connect as the owner of the tables, where that is another role.
        """
        try:
            connection = await connect_to_primary(
                self._upkeep_dsn if owner else self.dsn,
                timeout=CONNECT_TIMEOUT_S,
                server_settings=direct_connection.SESSION | {"application_name": "horae upkeep"},
            )
        except GONE as error:
            self.reach.mark_down(error, connecting=True)
            raise
        keep_alive(connection)
        try:
            yield connection
        finally:
            with suppress(*GONE):
                await connection.close(timeout=CONNECT_TIMEOUT_S)


async def _prepare(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    keep_alive(connection)
    await wait_for_answer(connection, use_json(connection))


async def _prepare_pooled(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    async with connection.transaction():  # otherwise each statement could reach a different server
        await _prepare(connection)


async def _reset_nothing(_connection: object) -> None:
    """Reset nothing when a connection goes back to the pool, which saves a round trip.

    All settings are local to a transaction, and LISTEN uses a connection outside the pool.
    """


async def use_json(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Let jsonb columns take and return plain values."""
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", format="binary", encoder=_encode, decoder=lambda data: decode(data[1:])
    )
    register_arrays(connection)


def _encode(value: Any) -> bytes:
    return b"\x01" + encode(value)  # the binary form of jsonb starts with its version


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder().decode
