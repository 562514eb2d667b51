"""Deletes expired rows: idempotency keys of requests, and sessions."""

from typing import Final

from horae.store import idempotency
from horae.store.connections.each_cell import Visits
from horae.store.identity import sessions
from horae.store.protocol import CellProtocol, StoreProtocol

BATCH: Final = 1000
"""Rows of a kind that one round deletes in a cell."""


class Forgetter:
    """A duty: one round deletes a batch in every cell."""

    def __init__(self, store: StoreProtocol) -> None:
        self.store = store
        self._visits = Visits("forgetter")

    async def once(self) -> int:
        """Visit each cell once. Returns how many rows were deleted."""
        return await self._visits.each(self.store.cells, self._forget)

    async def _forget(self, cell: CellProtocol) -> int:
        async with cell.statement() as tx:
            return await idempotency.forget(tx, BATCH) + await sessions.forget(tx, BATCH)
