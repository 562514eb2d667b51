"""Writes the counts of this process to every cell once a minute, and deletes old ones: signals, and service levels."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from horae.store.connections.each_cell import Visits
from horae.store.health import service_level, signals
from horae.store.protocol import CellProtocol, StoreProtocol

SIGNALS_KEPT: Final = timedelta(days=1)
MOST: Final = 2000
"""Counts that one round writes to a cell."""
FORGOTTEN_AT_ONCE: Final = 20_000
"""Old rows that one round deletes in a cell."""


class Signaller:
    """A duty of every process that settles or hands out work. `writer` is the incarnation of a node, if it is one."""

    def __init__(self, store: StoreProtocol, writer: UUID) -> None:
        self.store = store
        self.writer = writer
        self._visits = Visits("signaller")

    async def once(self) -> int:
        """Visit each cell once; one that is down gets its counts later. Returns 0: the next round can wait."""
        return await self._visits.each(self.store.cells, self._write)

    async def _write(self, cell: CellProtocol) -> None:
        counts, levels = cell.signal_counts.take(MOST), cell.level_counts.take(MOST)
        try:
            async with cell.statement() as tx:
                minute = tx.now.replace(second=0, microsecond=0)
                if counts:
                    await signals.write(tx, minute, self.writer, counts)
                    counts = {}
                await signals.gauge(tx, minute, self.writer)
                await signals.forget(tx, minute - SIGNALS_KEPT, FORGOTTEN_AT_ONCE)
                if levels:
                    await service_level.write(tx, levels)
                    levels = []
                await service_level.forget(tx, FORGOTTEN_AT_ONCE)
        except Exception:
            cell.signal_counts.give_back(counts)
            cell.level_counts.give_back(levels)
            raise
