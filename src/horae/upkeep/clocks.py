"""Keeps the clocks and shards of the cells up to date in a process that leases no shards, and its connections alive."""

from collections.abc import Callable
from typing import Final

from horae.runtime.clock import boottime
from horae.store.cells import Cell
from horae.store.connections.each_cell import Visits
from horae.store.store import Store

ANSWER_TIMEOUT_S: Final = 2.0
"""Seconds that a cell has to answer. If it does not, all idle connections to it are discarded."""
MIN_READ_GAP_S: Final = 0.2
"""Seconds between two reads that closed shards cause, however many requests find one."""


class ClockKeeper:
    """A duty: read the clock and shards of every cell, all at once. A cell that does not answer keeps the last values.

    It also finds dead connections before requests do. `wake` starts the next read early.
    """

    def __init__(self, store: Store, wake: Callable[[], None] = lambda: None) -> None:
        self.store = store
        self.wake = wake
        self._looked_at = boottime()
        self._visits = Visits("clockkeeper")

    async def once(self) -> int:
        """Read every open cell once. Returns 0: the next round can wait."""
        self._looked_at = boottime()
        return await self._visits.each((cell for cell in self.store.cells if cell.is_open), self._read)

    def on_closed_shard(self) -> None:
        """Called when a request finds a closed shard: start the next read now, but not for every such request."""
        if boottime() - self._looked_at > MIN_READ_GAP_S:
            self.wake()

    async def _read(self, cell: Cell) -> None:
        await cell.sync_clock(ANSWER_TIMEOUT_S)
        await self.store.learn_shards_of(cell)
