"""Row-level security: a transaction names its tenant, and PostgreSQL hides the rows of all other tenants.

The first defence is the condition on `tenant_id` in every statement. Row-level security is the second, for the roles
that serve requests (`horae_api`, `horae_readonly`): a statement that lacks the condition finds nothing instead of
everything. The setting is local to the transaction, so it never stays on a pooled connection for the next request.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from horae.runtime.clock import Clock
from horae.store.databases.tables import SECURED_TABLES
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.statements import sql
from horae.store.transactions import CellTransactions, ShardTransactions
from horae.store.tx import Tx

if TYPE_CHECKING:
    from horae.store.connections.connections import Pooled


class Behalf(NamedTuple):
    """On whose behalf a transaction runs: a tenant, the holder of a key whose tenant is not known yet, or the platform.

    The platform manages tenants and keys.
    """

    tenant: UUID | None = None
    key: UUID | None = None
    platform: bool = False


PLATFORM: Final = Behalf(platform=True)
TRIED_PAGES: Final = 64
"""How many pages of a table are tried, half a megabyte: enough to see a row, and quick however large the table is."""


def begin(behalf: Behalf) -> str:
    """The statement that opens a transaction for `behalf`. Only ids are formatted into it."""
    return sql("row_level_security/begin").format(
        tenant=behalf.tenant or "", key=behalf.key or "", platform="on" if behalf.platform else ""
    )


async def is_enforced(tx: Tx) -> bool:
    """Whether row-level security hides the rows of all tenants from this connection's role while no tenant is named.

    1. The catalog: no attribute, policy or ownership lets the role pass. An empty table could not show that.
    2. Each table that the role may read is tried: a policy or a setting of the role may show rows in another way.
    """
    if not await is_held(tx):
        return False
    return not any([await shows_rows(tx, table) for table in await readable(tx)])


async def is_held(tx: Tx) -> bool:
    """Whether the catalog names nothing by which this connection's role passes row-level security."""
    return bool(await tx.value(sql("row_level_security/is_held"), SECURED_TABLES))


async def readable(tx: Tx) -> list[str]:
    """The tables with rows of tenants that this connection's role may read."""
    return [row["name"] for row in await tx.rows(sql("row_level_security/readable"), SECURED_TABLES)]


async def shows_rows(tx: Tx, table: str) -> bool:
    """Whether this connection sees a tenant's row in the first pages of a table."""
    column = "id" if table == "tenant" else "tenant_id"
    statement = sql("row_level_security/shows_rows")
    return bool(await tx.value(statement.format(table=table, column=column, pages=TRIED_PAGES)))


def restrict(store: StoreProtocol, behalf: Behalf) -> "RowSecurityStore":
    """The same store, limited by row-level security to one `behalf`. An earlier limit is replaced."""
    return RowSecurityStore(store.base if isinstance(store, RowSecurityStore) else store, behalf)


class RowSecurityCell(CellTransactions):
    """One cell under row-level security.

    Single statements run in a transaction, too: without one, no tenant is named and every row is hidden.
    """

    def __init__(self, cell: CellProtocol, behalf: Behalf) -> None:
        self.name, self.dsn, self.clock = cell.name, cell.dsn, cell.clock
        self.signal_counts, self.level_counts = cell.signal_counts, cell.level_counts
        self.reach = cell.reach
        self.measures = cell.measures
        self._cell = cell
        self._opening = begin(behalf)

    @property
    def is_open(self) -> bool:
        """Whether the underlying cell is open."""
        return self._cell.is_open

    async def sync_clock(self, patience: float | None = None) -> None:
        """Read the clock of the underlying cell; all callers share it."""
        await self._cell.sync_clock(patience)

    def begun(self, opening: str) -> "AbstractAsyncContextManager[Pooled]":
        """A transaction on behalf of another, whom `opening` names."""
        return self._cell.begun(opening)

    @asynccontextmanager
    async def tx(self) -> AsyncIterator[Tx]:
        """A transaction on behalf of one tenant or the platform. It needs no additional round trip."""
        async with self._cell.begun(self._opening) as connection:
            yield Tx(connection, self.clock.now(), reach=self.reach)

    def statement(self) -> AbstractAsyncContextManager[Tx]:
        """Like `tx`: what is written is committed at the end of the block."""
        return self.tx()


class RowSecurityStore(ShardTransactions):
    """All cells under row-level security. Which cell holds which shard is read from the underlying store."""

    def __init__(self, store: StoreProtocol, behalf: Behalf) -> None:
        self.base = store
        self._secured = {cell: RowSecurityCell(cell, behalf) for cell in store.cells}
        self.cells = list(self._secured.values())
        self.wakes, self.cipher, self.brokers = store.wakes, store.cipher, store.brokers

    @property
    def clock(self) -> Clock:
        """The clock of the underlying store."""
        return self.base.clock

    def cell(self, shard: int) -> RowSecurityCell:
        """The cell that holds a shard."""
        return self._secured[self.base.cell(shard)]

    def holds(self, cell: CellProtocol, shard: int) -> bool:
        """Whether a shard is open in a cell, as far as this process knows."""
        return self.base.holds(self._own(cell), shard)

    def home_first(self, shard: int) -> list[RowSecurityCell]:
        """All cells: the home cell of a shard first, cells that are down last."""
        return [self._secured[cell] for cell in self.base.home_first(shard)]

    def former_cells(self, shard: int) -> list[RowSecurityCell]:
        """The cells that held a shard before it moved."""
        return [self._secured[cell] for cell in self.base.former_cells(shard)]

    def shards_of(self, cell: CellProtocol) -> list[int]:
        """The shards a cell holds."""
        return self.base.shards_of(self._own(cell))

    def _own(self, cell: CellProtocol) -> CellProtocol:
        """The underlying cell of a limited one."""
        return next(own for own, secured in self._secured.items() if secured is cell)
