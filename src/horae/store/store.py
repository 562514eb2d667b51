"""The store: all cells of a process, and which of them holds which shard.

It opens transactions in the cell that holds a shard, and learns from the cells which shards they hold.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Self

from horae.domain.errors import ShardClosed
from horae.domain.events.channels import Brokers
from horae.domain.placement import SHARDS
from horae.runtime.clock import Clock
from horae.runtime.settings import CellSettings
from horae.security.payload_cipher import PayloadCipher
from horae.store.cells import Cell
from horae.store.nodes import shards
from horae.store.nodes.shards import KnownShards
from horae.store.nodes.wakes import Wakes
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.transactions import ShardTransactions
from horae.store.tx import GONE, UNMIGRATED

MakeCipher = Callable[[StoreProtocol], PayloadCipher]


class Store(ShardTransactions):
    """All cells, and which of them holds which shard.

    `brokers`: which topics belong to which tenant. `cipher` makes the cipher of payloads; it gets the store, because
    the data keys are in it. Without it payloads are not encrypted.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        brokers: Brokers | None = None,
        cipher: MakeCipher = lambda _store: PayloadCipher(),
    ) -> None:
        self.cells = list(cells)
        self.wakes = Wakes(self.cell)
        self.brokers: Brokers = brokers or {}
        self.cipher = cipher(self)
        self._cell_of: list[Cell | None] = [None] * SHARDS
        self._left: dict[str, frozenset[int]] = {}

    @classmethod
    def of(
        cls,
        cells: Sequence[CellSettings],
        brokers: Brokers | None = None,
        cipher: MakeCipher = lambda _store: PayloadCipher(),
    ) -> Self:
        """A store for the configured cells, not yet open."""
        made = [
            Cell(
                cell.name,
                cell.dsn,
                direct_dsn=cell.direct_dsn,
                upkeep_dsn=cell.upkeep_dsn,
                pooled=cell.pooled,
            )
            for cell in cells
        ]
        return cls(made, brokers, cipher)

    async def __aenter__(self) -> Self:
        """Open every cell that answers; others can join later. Raises if none answers, or one is misconfigured."""
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
    async def as_owner(self) -> AsyncIterator["Store"]:
        """The same cells, connected as the owner of the tables, for statements that only this role may run."""
        if all(cell.owned for cell in self.cells):
            yield self
            return
        cells = [cell.as_owner() for cell in self.cells]
        async with Store(cells, self.brokers, lambda _store: self.cipher) as owner:
            for own, cell in zip(cells, self.cells, strict=True):
                own.share(cell.clock, cell.reach)
            yield owner

    async def join(self, cell: Cell) -> None:
        """Open a cell and learn its shards: at the start, or when a cell that was down answers for the first time."""
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
        """Ask one cell which shards are open there. What is known about the other cells does not change."""
        try:
            async with cell.statement() as tx:
                here = await shards.known_here(tx)
        except UNMIGRATED:  # the cell is of a release that moved no shards; who needs ours refuses it by itself
            async with cell.statement() as tx:
                here = KnownShards(frozenset(await shards.active(tx)), frozenset())
        self.note_shards(cell.name, here.active)
        self._left[cell.name] = here.left

    def note_shards(self, cell_name: str, here: Collection[int]) -> None:
        """Note which shards are open in a cell."""
        [cell] = [one for one in self.cells if one.name == cell_name]
        for shard, holder in enumerate(self._cell_of):
            if shard in here:
                self._cell_of[shard] = cell
            elif holder is cell:
                self._cell_of[shard] = None

    def note_left(self, cell_name: str, shards_left: Collection[int]) -> None:
        """Note that shards have left a cell, in addition to those that are known."""
        self._left[cell_name] = self._left.get(cell_name, frozenset()).union(shards_left)

    def cell(self, shard: int) -> Cell:
        """The cell that holds a shard."""
        cell = self._cell_of[shard]
        if cell is None:
            raise ShardClosed(f"shard {shard} is open in no cell")
        return cell

    def holds(self, cell: CellProtocol, shard: int) -> bool:
        """Whether a shard is open in a cell, as far as this process knows."""
        return self._cell_of[shard] is cell

    def home_first(self, shard: int) -> list[Cell]:
        """All cells in the order to ask for a row or its copies: the home cell first, cells that are down last."""
        home = self._cell_of[shard]
        return sorted(self.cells, key=lambda cell: (cell.reach.is_down, cell is not home))

    def shards_of(self, cell: CellProtocol) -> list[int]:
        """The shards a cell holds."""
        return [shard for shard, holder in enumerate(self._cell_of) if holder is cell]

    def former_cells(self, shard: int) -> list[Cell]:
        """The cells that held a shard before it moved: they have its older history."""
        return [cell for cell in self.cells if shard in self._left.get(cell.name, ()) and not self.holds(cell, shard)]

    def left_shards(self, cell: CellProtocol) -> frozenset[int]:
        """The shards that have left a cell. Their older history and outbox rows are still there."""
        return frozenset(shard for shard in self._left.get(cell.name, ()) if not self.holds(cell, shard))
