"""Maintains what the feed reads by: marks that map times to transactions, and BRIN summaries of pages."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from horae.runtime.clock import boottime
from horae.store.connections.each_cell import Visits
from horae.store.events import feeds
from horae.store.protocol import CellProtocol, StoreProtocol

RANGE: Final = 128
"""Pages in one BRIN summary (PostgreSQL's default)."""
MARK_INTERVAL_S: Final = 30.0
MARKS_KEPT: Final = timedelta(days=22)
"""How long marks are kept by default: as long as the days they lead to, and one more."""


class Marker:
    """A duty, every five seconds while rows are written, for the cells that this process is responsible for.

    New pages have no summary at first, and until then every query reads them. So each range of pages gets its summary
    as soon as it is full. The range that is being written has none, because its writers would have to maintain it.
    """

    def __init__(
        self,
        store: StoreProtocol,
        mine: Callable[[CellProtocol], bool] = lambda _: True,
        kept: timedelta = MARKS_KEPT,
    ) -> None:
        self.store, self._mine, self._kept = store, mine, kept
        self._summarized: dict[tuple[str, str], int] = {}
        self._marked_at: dict[str, float] = {}
        self._visits = Visits("marker")

    async def once(self) -> int:
        """Visit each cell once. Returns 0: the next round can wait."""
        return await self._visits.each(filter(self._mine, self.store.cells), self._tidy)

    async def _tidy(self, cell: CellProtocol) -> None:
        async with cell.statement() as tx:
            if boottime() - self._marked_at.get(cell.name, -MARK_INTERVAL_S) >= MARK_INTERVAL_S:
                await feeds.mark(tx)
                await feeds.forget_marks(tx, tx.now - self._kept)
                self._marked_at[cell.name] = boottime()
            days = [f"{tx.now + timedelta(days=step):%Y%m%d}" for step in (-1, 0, 1)]
            found = await feeds.partitions(tx, days)
        for summary, pages in found:
            first, whole = self._summarized.get((cell.name, summary), 0), pages // RANGE * RANGE
            if whole > first:
                async with cell.tx() as tx:
                    await feeds.summarize(tx, summary, first, whole - RANGE)
                self._summarized[cell.name, summary] = whole
