"""Keeps a process that leases nothing on its cells' time, and its connections alive."""

import asyncio
from typing import Final

from horae.runtime.telemetry import log
from horae.store.cells import Cell, Store
from horae.store.tx import GONE

PATIENCE: Final = 2.0
"""Seconds: a reading takes none. Who does not answer by then takes all idle connections of its cell along."""


class ClockKeeper:
    """Reads every cell's clock anew, all at once. A cell that does not answer keeps the time it had.

    It is also the first to meet connections that died in silence, before requests pay for them.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    async def once(self) -> int:
        """One reading; returns 0: there is no more to do."""
        await asyncio.gather(*(_read(cell) for cell in self.store.cells))
        return 0


async def _read(cell: Cell) -> None:
    try:
        await cell.sync_clock(PATIENCE)
    except GONE as error:
        log.warning("clock.not_read", cell=cell.name, error=repr(error))
