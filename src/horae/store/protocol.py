"""What callers use of a cell and of the store, whichever implementation they have been given.

1. `Cell` and `Store` (`cells`, `store`) are the cells of a process with their pools of connections.
2. `RowSecurityCell` and `RowSecurityStore` (`row_level_security`) are the same cells on behalf of one tenant:
   PostgreSQL hides the rows of all others. Requests get these.
3. `IdempotentStore` (`horae.service.idempotent_store`) is a store whose transactions in one shard also write an
   idempotency key.

What opens, closes or owns connections (`Cell.open`, `Cell.direct`, `Store.join`) is not part of the protocols: it
belongs to the process and takes a `Cell` or a `Store`.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol, TypeVar

from horae.domain.events.channels import Brokers
from horae.runtime.clock import Clock
from horae.security.payload_cipher import PayloadCipher
from horae.store.connections.reachability import Reach
from horae.store.health.counters import SignalCounts
from horae.store.health.level_counts import LevelCounts
from horae.store.measures.book import MeasureBook
from horae.store.nodes.wakes import Wakes
from horae.store.tx import Tx

if TYPE_CHECKING:
    from horae.store.connections.connections import Pooled

Result = TypeVar("Result")


class CellProtocol(Protocol):
    """One PostgreSQL cluster that holds some shards."""

    @property
    def name(self) -> str:
        """The name of the cell in the settings."""

    @property
    def dsn(self) -> str:
        """The address of the cluster itself, not of a pooler in front of it."""

    @property
    def clock(self) -> Clock:
        """The clock of the cluster."""

    @property
    def signal_counts(self) -> SignalCounts:
        """What this process has counted in the cell and not written yet."""

    @property
    def level_counts(self) -> LevelCounts:
        """Which due times of the cell this process has served in time, as far as not written yet."""

    @property
    def measures(self) -> MeasureBook:
        """The protective measures that this process knows to be in force in the cell."""

    @property
    def reach(self) -> Reach:
        """Whether the cell answers."""

    @property
    def is_open(self) -> bool:
        """Whether the cell has answered since this process started."""

    async def sync_clock(self, patience: float | None = None) -> None:
        """Read the database's clock again."""

    def begun(self, opening: str) -> "AbstractAsyncContextManager[Pooled]":
        """A connection with a transaction that the statement `opening` begins."""

    def tx(self) -> AbstractAsyncContextManager[Tx]:
        """A transaction: committed at the end of the block, rolled back when it raises."""

    def statement(self) -> AbstractAsyncContextManager[Tx]:
        """Single statements: what is written is committed at the end of the block at the latest."""

    async def run(self, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Run `work` in a transaction. Repeats it after an error that wrote nothing."""

    async def run_statements(self, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Like `run`, for work in which each write is one statement that includes its event."""

    async def run_after_read(self, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Like `run_statements`, for work that begins with a read."""


class StoreProtocol(Protocol):
    """All cells, and which of them holds which shard."""

    @property
    def cells(self) -> Sequence[CellProtocol]:
        """The cells, in the order of the settings."""

    @property
    def wakes(self) -> Wakes:
        """Notifies the nodes that something is due."""

    @property
    def cipher(self) -> PayloadCipher:
        """Encrypts and decrypts payloads."""

    @property
    def brokers(self) -> Brokers:
        """Which topics belong to which tenant."""

    @property
    def clock(self) -> Clock:
        """The clock of the first cell that has ever answered: for what belongs to no cell in particular."""

    def cell(self, shard: int) -> CellProtocol:
        """The cell that holds a shard."""

    def holds(self, cell: CellProtocol, shard: int) -> bool:
        """Whether a shard is open in a cell, as far as this process knows."""

    def home_first(self, shard: int) -> Sequence[CellProtocol]:
        """All cells: the home cell of a shard first, cells that are down last."""

    def shards_of(self, cell: CellProtocol) -> list[int]:
        """The shards a cell holds."""

    def former_cells(self, shard: int) -> Sequence[CellProtocol]:
        """The cells that held a shard before it moved: they have its older history."""

    def tx(self, shard: int) -> AbstractAsyncContextManager[Tx]:
        """A transaction in the cell that holds a shard."""

    def statement(self, shard: int) -> AbstractAsyncContextManager[Tx]:
        """Single statements in the cell that holds a shard."""

    async def run(self, shard: int, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Run `work` in a transaction of the cell that holds a shard. Repeats it after an error that wrote nothing."""

    async def run_after_read(self, shard: int, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Run `work`, which begins with a read, without a transaction, in the cell that holds a shard."""
