"""Keeps a process that leases nothing on its cells' time and shards, and its connections alive."""

import asyncio
from collections.abc import Callable
from typing import Final

from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store.cells import Cell, Store
from horae.store.tx import CUT, GONE

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

    async def once(self) -> int:
        """One reading; returns 0: there is no more to do."""
        self._looked_at = boottime()
        await asyncio.gather(*(self._read(cell) for cell in self.store.cells))
        return 0

    def closed(self) -> None:
        """A shard was not open where we looked for it: look anew at once, but not at every request."""
        if boottime() - self._looked_at > SELDOM:
            self.wake()

    async def _read(self, cell: Cell) -> None:
        try:
            await cell.sync_clock(PATIENCE)
            await self.store.learn_shards_of(cell)
        except (*GONE, *CUT) as error:
            log.warning("clock.not_read", cell=cell.name, error=repr(error))
