"""Deletes types and rolling sets that were removed long ago, with all that is left of them in any cell.

1. A type stays while any cell has a live instance, a dead letter or a source of it.
2. Its ledgers and subjects are deleted in batches, cell by cell.
3. When no cell has any, its home deletes the job with its versions.
4. Copies whose home no longer has the job are deleted. A copier may write one once more: a later round deletes it.
"""

from datetime import timedelta
from functools import partial
from typing import Final

from horae.runtime.telemetry import log
from horae.store.connections.each_cell import CellPart, Visits
from horae.store.jobs import removed_types
from horae.store.jobs.removed_types import RemovedType
from horae.store.protocol import CellProtocol, StoreProtocol

TYPES: Final = 1000
"""Types of a home, and copies in a cell, that one round looks at."""
BATCH: Final = 1000
"""Ledgers, and subjects, of a type that one round deletes in a cell."""


class RemovedTypeForgetter:
    """A duty: one round deletes a batch of each removed type. It needs all cells: a silent one may have rows."""

    def __init__(self, store: StoreProtocol, kept: timedelta) -> None:
        self.store, self.kept = store, kept
        self._visits = Visits("removedtypeforgetter")

    async def once(self) -> int:
        """Visit each home once, if all cells answer. Returns how many rows were deleted: then there may be more."""
        cells = self.store.cells
        return await self._visits.round({home.name: CellPart(cells, partial(self._visit, home)) for home in cells})

    async def _visit(self, home: CellProtocol) -> int:
        async with home.statement() as tx:
            types = await removed_types.listing(tx, tx.now - self.kept, TYPES)
        return sum([await self._forget(home, one) for one in types]) + await self._forget_copies(home)

    async def _forget(self, home: CellProtocol, removed: RemovedType) -> int:
        for cell in self.store.cells:
            async with cell.statement() as tx:
                if await removed_types.is_used(tx, removed.id):
                    return 0
        gone = 0
        for cell in self.store.cells:
            async with cell.statement() as tx:
                gone += await removed_types.forget_keys(tx, removed.id, BATCH)
                gone += await removed_types.forget_subjects(tx, removed.id, BATCH)
                gone += await removed_types.forget_subject_versions(tx, removed.id, BATCH)
        if gone:
            return gone
        async with home.statement() as tx:
            if not await removed_types.forget(tx, removed):
                return 0
        log.info("type.deleted", cell=home.name, job=f"{removed.id}")
        return 1

    async def _forget_copies(self, cell: CellProtocol) -> int:
        """Delete the copies in a cell whose homes no longer have the job."""
        async with cell.statement() as tx:
            copies = await removed_types.copies(tx, tx.now - self.kept, TYPES)
        there = set()
        for home in self.store.cells if copies else ():
            async with home.statement() as tx:
                there |= await removed_types.still_there(tx, copies)
        orphans = [one.id for one in copies if one.id not in there]
        if not orphans:
            return 0
        async with cell.statement() as tx:
            return await removed_types.forget_copies(tx, orphans)
