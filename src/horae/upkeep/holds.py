"""Deletes the holds that dead nodes have written. A hold describes calls that a node holds back."""

from typing import Final

from horae.store.connections.each_cell import Visits
from horae.store.limits import holds
from horae.store.protocol import CellProtocol, StoreProtocol

BATCH: Final = 1000
"""Rows that one round deletes in a cell."""


class HoldSweeper:
    """A duty, once a minute: one round deletes a batch in every cell."""

    def __init__(self, store: StoreProtocol) -> None:
        self.store = store
        self._visits = Visits("holdsweeper")

    async def once(self) -> int:
        """Visit each cell once. Returns how many rows were deleted."""
        return await self._visits.each(self.store.cells, self._sweep)

    async def _sweep(self, cell: CellProtocol) -> int:
        async with cell.statement() as tx:
            return await holds.forget(tx, BATCH)
