"""Keeps a process that leases nothing on its cells' time and shards, and its connections alive."""

from collections.abc import Callable
from typing import Final

from horae.runtime.clock import boottime
from horae.store.cells import Cell, Store
from horae.store.each import Visits

PATIENCE: Final = 2.0
"""Seconds: a reading takes none. Who does not answer by then takes all idle connections of its cell along."""
SELDOM: Final = 0.2
"""Seconds between two looks, however many requests meet a closed shard."""


class ClockKeeper:
    """Reads every cell's clock and shards anew, all at once. A cell that does not answer keeps what it had.

    It is also the first to meet connections that died in silence, before requests pay for them. `wake` is what brings
    the next look forward.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.wake: Callable[[], None] = lambda: None
        self._looked_at = boottime()
        self._visits = Visits("clockkeeper")

    async def once(self) -> int:
        """One reading; returns 0: there is no more to do."""
        self._looked_at = boottime()
        return await self._visits.each((cell for cell in self.store.cells if cell.is_open), self._read)

    def closed(self) -> None:
        """A shard was not open where we looked for it: look anew at once, but not at every request."""
        if boottime() - self._looked_at > SELDOM:
            self.wake()

    async def _read(self, cell: Cell) -> None:
        await cell.sync_clock(PATIENCE)
        await self.store.learn_shards_of(cell)
