"""Takes away what nodes that died had written about the calls they held back."""

from typing import Final

from horae.store import holds
from horae.store.cells import Cell, Store
from horae.store.each import Visits

BATCH: Final = 1000


class HoldSweeper:
    """A duty of once a minute: one round takes a batch from every cell."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._visits = Visits("holdsweeper")

    async def once(self) -> int:
        """Every cell once; returns how many rows went."""
        return await self._visits.each(self.store.cells, self._sweep)

    async def _sweep(self, cell: Cell) -> int:
        async with cell.statement() as tx:
            return await holds.forget(tx, BATCH)
