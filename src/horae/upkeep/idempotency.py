"""Takes away what has expired: idempotency keys of requests, sessions of people."""

from typing import Final

from horae.store import idempotency, sessions
from horae.store.cells import Store

BATCH: Final = 1000


class Forgetter:
    """A duty: one round takes a batch from every cell; it is called again at once while there is more."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def once(self) -> int:
        """Every cell once; returns how many rows went."""
        went = 0
        for cell in self.store.cells:
            async with cell.statement() as tx:
                went += await idempotency.forget(tx, BATCH) + await sessions.forget(tx, BATCH)
        return went
