"""Keeps a process that leases nothing on its cells' time, and on which cell holds which shard."""

from horae.runtime.telemetry import log
from horae.store.cells import Store
from horae.store.tx import GONE


class ClockKeeper:
    """Reads every cell's clock and shards anew. A cell that does not answer keeps the time it had."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def once(self) -> int:
        """One reading; returns 0: there is no more to do."""
        for cell in self.store.cells:
            try:
                await cell.sync_clock()
            except GONE as error:
                log.warning("clock.not_read", cell=cell.name, error=repr(error))
        return 0
