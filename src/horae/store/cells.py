"""The cells: one PostgreSQL cluster each, a pool of connections and the cell's own clock.

`Store` knows which cell holds which shard, as the cells themselves say, and opens transactions there.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import asyncpg
import msgspec
from asyncpg.connect_utils import SessionAttribute

from horae.domain.channels import Brokers
from horae.domain.errors import KeysUnavailable, ShardClosed
from horae.domain.placement import SHARDS
from horae.runtime.clock import Clock
from horae.runtime.settings import CellSettings
from horae.security.sealing import Sealing
from horae.store import clock as clocks
from horae.store import line, shards
from horae.store.answers import PATIENCE, answered
from horae.store.connections import BEGIN, BEGIN_ON_PRIMARY, begun, forsake, fresh
from horae.store.holding import KeyNotAtHand, repeatable
from horae.store.line import CONNECT, keep_alive
from horae.store.reach import Reach
from horae.store.tally import Tally
from horae.store.tx import GONE, TRY_AGAIN, Tx
from horae.store.wakes import Wakes

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

Result = TypeVar("Result")
TRIES: Final = 5
MOST_KEYS: Final = 100
"""Data keys that one transaction may turn out to need."""
SESSION = line.SESSION | {
    "application_name": "horae",
    "statement_timeout": "5s",
    "idle_in_transaction_session_timeout": "10s",  # the due scan's lower bound leans on this
    # Every hot statement is a nested loop over the index it was written for. On small, churning tables with old
    # statistics the planner finds reasons to think otherwise; here it has no choice.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
OWN: Final[dict[str, Any]] = {"server_settings": SESSION, "target_session_attrs": SessionAttribute.read_write}
"""How we connect to PostgreSQL itself."""
POOLED: Final[dict[str, Any]] = {
    "statement_cache_size": 0,
    "server_settings": {"application_name": "horae", "timezone": "UTC"},
}
"""Through a pooler: no statement outlives its transaction, and the session's settings are those of the role."""


class Cell:
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
        self.tally = Tally()
        self.reach = Reach(name)
        self.connections = connections
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None

    async def open(self) -> None:
        """Connect and read the cell's clock. Raises where the cell does not answer, and leaves nothing behind."""
        try:
            self._pool = await asyncpg.create_pool(
                self._pool_dsn,
                min_size=0,  # asyncpg restores a floor again and again while a cell is down, with a traceback each time
                max_size=self.connections,
                init=_prepare_pooled if self.pooled else _prepare,
                reset=_as_it_is,
                timeout=CONNECT,
                **(POOLED if self.pooled else OWN),
            )
            await self.sync_clock()
        except BaseException as error:
            if isinstance(error, GONE):
                self.reach.lose(error, connecting=True)
            await self.close()
            raise
        self.reach.find()

    async def close(self) -> None:
        """Give every connection back to the database; those that do not answer are left behind."""
        pool, self._pool = self._pool, None
        if pool is not None:
            try:
                async with asyncio.timeout(PATIENCE):
                    await pool.close()
            except TimeoutError:
                pool.terminate()

    async def sync_clock(self, patience: float | None = None) -> None:
        """Read the database's clock anew; done at the start and with every heartbeat."""
        async with self._at_hand() as connection:
            sent = self.clock.ticks()
            try:
                told = await answered(connection, clocks.read(connection), patience)
            except GONE as error:
                self.reach.lose(error)
                raise
            told.set(self.clock, sent)
        self.reach.find()

    def forsake(self) -> None:
        """Trust none of the connections that nobody uses just now: whoever needs one makes it anew."""
        if self._pool is not None:
            forsake(self._pool)

    @property
    def is_open(self) -> bool:
        """Whether the cell has answered since this process began."""
        return self._pool is not None

    @property
    def pool(self) -> "asyncpg.Pool[asyncpg.Record]":
        """The open pool; to those who need one, a cell that did not answer yet is like any that is down."""
        if self._pool is None:
            raise ConnectionError(f"{self.name} is not open")
        return self._pool

    @property
    def owned(self) -> bool:
        """Whether we come as the owner of the tables, as far as we were told."""
        return self._upkeep_dsn == self.dsn

    def as_owner(self) -> "Cell":
        """The same cell with few connections of the owner's, not yet open."""
        return Cell(self.name, self._upkeep_dsn, connections=2)

    def as_pooled(self) -> "Cell":
        """The same cell with one connection of the pool's kind, not yet open."""
        return Cell(self.name, self._pool_dsn, connections=1, pooled=self.pooled)

    @asynccontextmanager
    async def tx(self) -> AsyncIterator[Tx]:
        """A transaction: committed at the end of the block, rolled back when it raises."""
        async with self._begun() as connection:
            yield Tx(connection, self.clock.now(), reach=self.reach)

    async def run(self, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Work in a transaction, and again where PostgreSQL answers that nothing was written (a deadlock)."""
        with repeatable():
            return await _insist(self.tx, work)

    async def run_statements(self, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """The same without a transaction around it, for work whose every write is one statement with its event."""
        return await _insist(self.statement, work)

    async def run_after_read(self, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """The same for work that begins with a read: a connection that ends before it is answered is replaced."""
        until = self.clock.ticks() + PATIENCE
        while True:
            begun: list[Tx] = []
            try:
                return await self.run_statements(partial(_remembered, begun, work))
            except GONE:
                if not begun or begun[-1].heard or self.clock.ticks() > until:
                    raise

    @asynccontextmanager
    async def statement(self) -> AsyncIterator[Tx]:
        """A connection whose statements each commit by themselves: for reads, and for writes that are one statement."""
        async with self._at_hand() as connection:
            yield Tx(connection, self.clock.now(), reach=self.reach)

    def _at_hand(self) -> "AbstractAsyncContextManager[PoolConnectionProxy[asyncpg.Record]]":
        """A connection for single statements. Behind a pooler only a transaction stays on one server."""
        return self._begun() if self.pooled else fresh(self.pool, self.connections, self.reach)

    def _begun(self) -> "AbstractAsyncContextManager[PoolConnectionProxy[asyncpg.Record]]":
        opening = BEGIN_ON_PRIMARY if self.pooled else BEGIN
        return begun(self.pool, self.connections, self.reach, opening)

    @asynccontextmanager
    async def direct(self, *, owner: bool = False) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
        """A connection outside the pool and without a statement timeout: for upkeep that takes its time.

        `owner`: as the owner of the tables, where that is another role.
        """
        try:
            connection = await asyncpg.connect(
                self._upkeep_dsn if owner else self.dsn,
                timeout=CONNECT,
                server_settings=line.SESSION | {"application_name": "horae upkeep"},
                target_session_attrs=SessionAttribute.read_write,
            )
        except GONE as error:
            self.reach.lose(error, connecting=True)
            raise
        keep_alive(connection)
        try:
            yield connection
        finally:
            with suppress(*GONE):
                await connection.close(timeout=CONNECT)


class Store:
    """All cells, and which of them holds which shard."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells = list(cells)
        self.wakes = Wakes(self.cell)
        self.brokers: Brokers = {}  # which topics are whose; the deployment's own say
        self.sealing = Sealing()  # payloads stay in clear until someone who has keys says otherwise
        self._cell_of: list[Cell | None] = [None] * SHARDS

    @classmethod
    def of(cls, cells: Sequence[CellSettings]) -> Self:
        """A store for the configured cells, not yet open."""
        return cls(
            [
                Cell(
                    cell.name,
                    cell.dsn,
                    direct_dsn=cell.direct_dsn,
                    upkeep_dsn=cell.upkeep_dsn,
                    pooled=cell.pooled,
                )
                for cell in cells
            ]
        )

    async def __aenter__(self) -> Self:
        """Open every cell that answers; the others may join later. Raises where none does, or one is misconfigured."""
        async with AsyncExitStack() as opened:
            for cell in self.cells:
                opened.push_async_callback(cell.close)
            done = await asyncio.gather(*(self.join(cell) for cell in self.cells), return_exceptions=True)
            failed = [error for error in done if error is not None]
            refused = [error for error in failed if not isinstance(error, GONE)]
            if refused or len(failed) == len(self.cells):
                raise (refused or failed)[0]
            opened.pop_all()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.wakes.close()
        for cell in self.cells:
            await cell.close()

    @asynccontextmanager
    async def owning(self) -> AsyncIterator["Store"]:
        """The same cells as the owner of the tables reaches them, for what only that role may do."""
        if all(cell.owned for cell in self.cells):
            yield self
            return
        async with Store([cell.as_owner() for cell in self.cells]) as owner:
            for own, cell in zip(owner.cells, self.cells, strict=True):
                own.clock, own.reach = cell.clock, cell.reach  # one of each: the clock is set at every heartbeat
            owner.sealing, owner.brokers = self.sealing, self.brokers
            yield owner

    async def join(self, cell: Cell) -> None:
        """Open a cell and learn its shards: at the start, or when one that was down then answers at last."""
        await cell.open()
        try:
            await self.learn_shards_of(cell)
        except BaseException:
            await cell.close()
            raise

    @property
    def clock(self) -> Clock:
        """The clock of the first cell that has ever answered: for what belongs to no cell in particular."""
        return next((cell.clock for cell in self.cells if cell.clock.was_read), self.cells[0].clock)

    async def learn_shards(self) -> None:
        """Ask every cell which shards are open there."""
        for cell in self.cells:
            await self.learn_shards_of(cell)

    async def learn_shards_of(self, cell: Cell) -> None:
        """Ask one cell which shards are open there; what the others hold stays as it was known."""
        async with cell.statement() as tx:
            here = frozenset(await shards.active(tx))
        for shard, holder in enumerate(self._cell_of):
            if shard in here:
                self._cell_of[shard] = cell
            elif holder is cell:
                self._cell_of[shard] = None

    def cell(self, shard: int) -> Cell:
        """The cell that holds a shard."""
        cell = self._cell_of[shard]
        if cell is None:
            raise ShardClosed(f"shard {shard} is open in no cell")
        return cell

    def holds(self, cell: Cell, shard: int) -> bool:
        """Whether a shard is open in a cell, as far as is known."""
        return self._cell_of[shard] is cell

    def home_first(self, shard: int) -> list[Cell]:
        """All cells in the order in which to ask for a row and its copies: the home first, those that are down last."""
        home = self._cell_of[shard]
        return sorted(self.cells, key=lambda cell: (cell.reach.is_down, cell is not home))

    def shards_of(self, cell: Cell) -> list[int]:
        """The shards a cell holds."""
        return [shard for shard, holder in enumerate(self._cell_of) if holder is cell]

    @asynccontextmanager
    async def tx(self, shard: int) -> AsyncIterator[Tx]:
        """A transaction in the cell that holds a shard."""
        async with self.cell(shard).tx() as tx:
            yield tx

    async def run(self, shard: int, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Work in a transaction of the cell that holds a shard, and again where nothing was written (a deadlock)."""
        return await self.cell(shard).run(work)

    async def run_after_read(self, shard: int, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Work without a transaction that begins with a read, in the cell that holds a shard."""
        return await self.cell(shard).run_after_read(work)

    @asynccontextmanager
    async def statement(self, shard: int) -> AsyncIterator[Tx]:
        """Single statements in the cell that holds a shard."""
        async with self.cell(shard).statement() as tx:
            yield tx


async def _insist(
    begin: Callable[[], AbstractAsyncContextManager[Tx]], work: Callable[[Tx], Awaitable[Result]]
) -> Result:
    tries, keys = TRIES, MOST_KEYS
    while True:
        try:
            async with begin() as tx:
                return await work(tx)
        except TRY_AGAIN:
            tries -= 1
            if not tries:
                raise
        except KeyNotAtHand as missing:
            keys -= 1
            if not keys:
                raise KeysUnavailable("too many data keys had to be read for one transaction") from missing
            with suppress(KeysUnavailable):  # then the work hears of it
                await missing.learn()


async def _remembered(begun: list[Tx], work: Callable[[Tx], Awaitable[Result]], tx: Tx) -> Result:
    begun.append(tx)
    return await work(tx)


async def _prepare(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    keep_alive(connection)
    await answered(connection, speak_json(connection))


async def _prepare_pooled(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    async with connection.transaction():  # otherwise its statements could each meet another server
        await _prepare(connection)


async def _as_it_is(_connection: object) -> None:
    """Give a connection back without a round trip: what we set we set for one transaction, and we listen elsewhere."""


async def speak_json(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Let jsonb columns take and give plain values."""
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", format="binary", encoder=_encode, decoder=lambda data: decode(data[1:])
    )


def _encode(value: Any) -> bytes:
    return b"\x01" + encode(value)  # the binary form of jsonb starts with its version


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder().decode
