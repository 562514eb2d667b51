"""The second wall: a transaction says on whose behalf it is, and PostgreSQL shows and takes no other tenant's rows.

The first wall is every statement's own `tenant_id`. This one stands behind it for the roles that serve requests
(`horae_api`, `horae_readonly`): forgetting a condition finds nothing instead of everything. What is set ends with the
transaction, hence nothing is left on a connection that the next request gets, whoever pools it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from horae.store.cells import Cell, Store
from horae.store.connections import begun
from horae.store.statements import sql
from horae.store.tx import Tx

if TYPE_CHECKING:
    import asyncpg


class Behalf(NamedTuple):
    """For whom: a tenant, the holder of a key who is not known yet, or the platform, which manages tenants and keys."""

    tenant: UUID | None = None
    key: UUID | None = None
    platform: bool = False


PLATFORM: Final = Behalf(platform=True)


def begin(behalf: Behalf) -> str:
    """The opening of a transaction. Nothing but ids goes into it."""
    return sql("walls/begin").format(
        tenant=behalf.tenant or "", key=behalf.key or "", platform="on" if behalf.platform else ""
    )


async def standing(tx: Tx) -> bool:
    """Whether this connection's role is held by the wall at all."""
    return bool(await tx.value(sql("walls/standing")))


def behind(store: Store, behalf: Behalf) -> Store:
    """The same store behind the wall, on someone's behalf, and no longer on anyone else's."""
    return WalledStore(store.base if isinstance(store, WalledStore) else store, behalf)


class WalledCell(Cell):
    """One cell. Single statements, too, are in a transaction: without one the wall would let nothing through."""

    def __init__(self, cell: Cell, behalf: Behalf) -> None:
        self.name, self.dsn, self.clock, self.tally = cell.name, cell.dsn, cell.clock, cell.tally
        self._cell = cell
        self.reach = cell.reach
        self.connections = cell.connections
        self._opening = begin(behalf)

    @property
    def is_open(self) -> bool:
        """Whether the cell itself is."""
        return self._cell.is_open

    @property
    def pool(self) -> "asyncpg.Pool[asyncpg.Record]":
        """The cell's own pool."""
        return self._cell.pool

    async def sync_clock(self, patience: float | None = None) -> None:
        """The clock is everybody's."""
        await self._cell.sync_clock(patience)

    @asynccontextmanager
    async def tx(self) -> AsyncIterator[Tx]:
        """A transaction on someone's behalf; that costs no round trip more than any other."""
        async with begun(self.pool, self.connections, self.reach, self._opening) as connection:
            yield Tx(connection, self.clock.now(), reach=self.reach)

    @asynccontextmanager
    async def statement(self) -> AsyncIterator[Tx]:
        """The same: what is written is committed at the end of the block."""
        async with self.tx() as tx:
            yield tx


class WalledStore(Store):
    """All cells on someone's behalf. Who holds which shard is the store's own knowledge."""

    def __init__(self, store: Store, behalf: Behalf) -> None:
        self.base = store
        self._walled = {cell: WalledCell(cell, behalf) for cell in store.cells}
        self.cells = list(self._walled.values())
        self.wakes, self.sealing, self.brokers = store.wakes, store.sealing, store.brokers

    async def learn_shards(self) -> None:
        """Ask every cell which shards are open there."""
        await self.base.learn_shards()

    async def learn_shards_of(self, cell: Cell) -> None:
        """Ask one cell which shards are open there."""
        await self.base.learn_shards_of(self._own(cell))

    def cell(self, shard: int) -> Cell:
        """The cell that holds a shard."""
        return self._walled[self.base.cell(shard)]

    def holds(self, cell: Cell, shard: int) -> bool:
        """Whether a shard is open in a cell, as far as is known."""
        return self.base.holds(self._own(cell), shard)

    def home_first(self, shard: int) -> list[Cell]:
        """All cells, the home of a shard first, those that are down last."""
        return [self._walled[cell] for cell in self.base.home_first(shard)]

    def shards_of(self, cell: Cell) -> list[int]:
        """The shards a cell holds."""
        return self.base.shards_of(self._own(cell))

    def _own(self, cell: Cell) -> Cell:
        """The cell behind the wall."""
        return next(own for own, walled in self._walled.items() if walled is cell)
