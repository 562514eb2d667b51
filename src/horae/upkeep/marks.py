"""Keeps what the feed reads by: marks that lead from a time to transactions, and summaries of pages."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store import feeds
from horae.store.cells import Cell, Store
from horae.store.tx import CUT, GONE, LOCKED

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
        self._marked_at = -MARK_EVERY_S

    async def once(self) -> int:
        """Returns 0: there is no hurry."""
        marks = boottime() - self._marked_at >= MARK_EVERY_S
        if marks:
            self._marked_at = boottime()
        for cell in self.store.cells:
            if self._mine(cell):
                try:
                    await self._tidy(cell, marks=marks)
                except (*GONE, *CUT, *LOCKED) as error:
                    log.warning("feed.not_summarized", cell=cell.name, reason=str(error))
        return 0

    async def _tidy(self, cell: Cell, *, marks: bool) -> None:
        async with cell.statement() as tx:
            if marks:
                await feeds.mark(tx)
                await feeds.forget_marks(tx, tx.now - KEPT)
            days = [f"{tx.now + timedelta(days=step):%Y%m%d}" for step in (-1, 0, 1)]
            found = await feeds.partitions(tx, days)
        for summary, pages in found:
            first, whole = self._summarized.get((cell.name, summary), 0), pages // RANGE * RANGE
            if whole > first:
                async with cell.tx() as tx:
                    await feeds.summarize(tx, summary, first, whole - RANGE)
                self._summarized[cell.name, summary] = whole
