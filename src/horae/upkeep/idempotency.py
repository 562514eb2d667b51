"""Takes away what has expired: idempotency keys of requests, sessions of people."""

from typing import Final

from horae.store import idempotency, sessions
from horae.store.cells import Cell, Store
from horae.store.each import Visits

BATCH: Final = 1000


class Forgetter:
    """A duty: one round takes a batch from every cell; it is called again at once while there is more."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._visits = Visits("forgetter")

    async def once(self) -> int:
        """Every cell once; returns how many rows went."""
        return await self._visits.each(self.store.cells, self._forget)

    async def _forget(self, cell: Cell) -> int:
        async with cell.statement() as tx:
            return await idempotency.forget(tx, BATCH) + await sessions.forget(tx, BATCH)
