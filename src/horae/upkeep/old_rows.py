"""Deletes rows that are over their term, in batches: dead letters, and backfills that have ended."""

from datetime import timedelta
from typing import Final

from horae.runtime.telemetry import log
from horae.store.connections.each_cell import Visits
from horae.store.instances import dead_letters
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.schedules import backfills

BATCH: Final = 1000
"""Rows of a kind that one round deletes in a cell."""
BACKFILLS_KEPT: Final = timedelta(days=90)


class OldRowForgetter:
    """A duty: one round deletes a batch of each kind in every cell. `kept` is the term of dead letters."""

    def __init__(self, store: StoreProtocol, kept: timedelta) -> None:
        self.store, self.kept = store, kept
        self._visits = Visits("oldrowforgetter")

    async def once(self) -> int:
        """Visit each cell once. Returns how many rows were deleted: then there may be more."""
        return await self._visits.each(self.store.cells, self._forget)

    async def _forget(self, cell: CellProtocol) -> int:
        async with cell.statement() as tx:
            dead = await dead_letters.forget(tx, tx.now - self.kept, BATCH)
            ended = await backfills.forget(tx, tx.now - BACKFILLS_KEPT, BATCH)
        if dead or ended:
            log.info("old_rows.deleted", cell=cell.name, dead_letters=dead, backfills=ended)
        return dead + ended
