"""Deletes rows over their term, in batches.

These are dead letters, ended backfills and paced replays, ended jobs, buckets of unused limits, resolved alerts and
tests of channels.
"""

from datetime import timedelta
from typing import Final

from horae.runtime.telemetry import log
from horae.store.alerts import alerts, messages
from horae.store.connections.each_cell import Visits
from horae.store.instances import dead_letters, paced_replays
from horae.store.jobs import jobs
from horae.store.limits import quotas
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.schedules import backfills

BATCH: Final = 1000
"""Rows of a kind that one round deletes in a cell."""
BACKFILLS_KEPT: Final = timedelta(days=90)
PACED_REPLAYS_KEPT: Final = timedelta(days=90)
UNUSED_BUCKETS_KEPT: Final = timedelta(days=90)
ALERTS_KEPT: Final = timedelta(days=30)


class OldRowForgetter:
    """A duty: one round deletes a batch of each kind in every cell."""

    def __init__(self, store: StoreProtocol, *, dead_letters_kept: timedelta, ended_jobs_kept: timedelta) -> None:
        self.store, self._dead_letters_kept, self._ended_jobs_kept = store, dead_letters_kept, ended_jobs_kept
        self._visits = Visits("oldrowforgetter")

    async def once(self) -> int:
        """Visit each cell once. Returns how many rows were deleted: then there may be more."""
        return await self._visits.each(self.store.cells, self._forget)

    async def _forget(self, cell: CellProtocol) -> int:
        async with cell.statement() as tx:
            dead = await dead_letters.forget(tx, tx.now - self._dead_letters_kept, BATCH)
            filled = await backfills.forget(tx, tx.now - BACKFILLS_KEPT, BATCH)
            replays = await paced_replays.forget(tx, tx.now - PACED_REPLAYS_KEPT, BATCH)
            ended = await jobs.forget(tx, tx.now - self._ended_jobs_kept, BATCH)
            unused = await quotas.forget(tx, tx.now - UNUSED_BUCKETS_KEPT, BATCH)
            resolved = await alerts.forget(tx, tx.now - ALERTS_KEPT, BATCH)
            tested = await messages.forget_tests(tx, tx.now - ALERTS_KEPT, BATCH)
        gone = dead + filled + replays + ended + unused + resolved + tested
        if gone:
            log.info(
                "old_rows.deleted",
                cell=cell.name,
                dead_letters=dead,
                backfills=filled,
                jobs=ended,
                buckets=unused,
                alerts=resolved,
            )
        return gone
