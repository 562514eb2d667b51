"""Deletes the rows of workers that have not polled for an hour, and the marks of those that were drained."""

from typing import Final

from horae.store.connections.each_cell import Visits
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.workers import drains, queue_workers

BATCH: Final = 1000
"""Rows that one round deletes in a cell."""


class WorkerForgetter:
    """A duty, once a minute: one round deletes a batch in every cell."""

    def __init__(self, store: StoreProtocol) -> None:
        self.store = store
        self._visits = Visits("workerforgetter")

    async def once(self) -> int:
        """Visit each cell once. Returns how many rows were deleted."""
        return await self._visits.each(self.store.cells, self._forget)

    async def _forget(self, cell: CellProtocol) -> int:
        async with cell.statement() as tx:
            return await queue_workers.forget(tx, BATCH) + await drains.forget(tx, BATCH)
