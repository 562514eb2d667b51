"""Keeps what the feed reads by: marks that lead from a time to transactions, and summaries of pages."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from horae.runtime.clock import boottime
from horae.store import feeds
from horae.store.cells import Cell, Store
from horae.store.each import Visits

RANGE: Final = 128
"""Pages that share one summary: PostgreSQL's usual."""
MARK_EVERY_S: Final = 30.0
KEPT: Final = timedelta(days=15)


class Marker:
    """A duty of every five seconds while rows are written, for the cells that are ours.

    New pages have no summary until someone makes one, and are read whole until then: so whole ranges get theirs as they
    fill up. The range that is written to just now is left alone, for its writers would have to keep the summary.
    """

    def __init__(self, store: Store, mine: Callable[[Cell], bool] = lambda _: True) -> None:
        self.store, self._mine = store, mine
        self._summarized: dict[tuple[str, str], int] = {}
        self._marked_at: dict[str, float] = {}
        self._visits = Visits("marker")

    async def once(self) -> int:
        """Returns 0: there is no hurry."""
        return await self._visits.each(filter(self._mine, self.store.cells), self._tidy)

    async def _tidy(self, cell: Cell) -> None:
        async with cell.statement() as tx:
            if boottime() - self._marked_at.get(cell.name, -MARK_EVERY_S) >= MARK_EVERY_S:
                await feeds.mark(tx)
                await feeds.forget_marks(tx, tx.now - KEPT)
                self._marked_at[cell.name] = boottime()
            days = [f"{tx.now + timedelta(days=step):%Y%m%d}" for step in (-1, 0, 1)]
            found = await feeds.partitions(tx, days)
        for summary, pages in found:
            first, whole = self._summarized.get((cell.name, summary), 0), pages // RANGE * RANGE
            if whole > first:
                async with cell.tx() as tx:
                    await feeds.summarize(tx, summary, first, whole - RANGE)
                self._summarized[cell.name, summary] = whole
