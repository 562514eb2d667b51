"""Forgets the rows that removed things leave behind.

A row that was removed stays for a day without its value, so that every copy hears of the removal. Then it goes:

1. The removals of a home that are older than a day are written to every other cell once more. A cell that was down for
   long has them from then on. One that is down now keeps all removals of the home as they are.
2. They are deleted at home, then in the other cells.
3. A copier that read such a row before step 2 may write a copy of it afterwards. It is deleted in a later round. If its
   name was used anew meanwhile, the newer row replaces it (`copy.sql` of each kind).
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, Protocol

from horae.domain.counts import REMOVED_KEPT
from horae.store import bindings, channels, keys, secrets
from horae.store.cells import Cell, Store
from horae.store.each import Part, Visits
from horae.store.tx import Tx

BATCH: Final = 1000


class TombstoneRows(Protocol):
    """A kind of rows that have one home and copies elsewhere, and stay for a while after they were removed."""

    async def removed(self, tx: Tx, before: datetime, limit: int, /) -> Sequence[Any]:
        """The rows at home here that were removed before a time, oldest first."""

    async def copy(self, tx: Tx, rows: Any, /) -> int:
        """Write copies where they are newer than what is there."""

    async def forget(self, tx: Tx, before: datetime, /, *, at_home: bool) -> int:
        """Delete what was removed before a time, at home here or copied; returns how many rows."""


KINDS: Final[tuple[TombstoneRows, ...]] = (secrets, channels, keys, bindings)


class TombstoneForgetter:
    """A duty: one round forgets a batch of each kind at every home; it is called again at once while there is more."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._visits = Visits("tombstones")

    async def once(self) -> int:
        """Every home once, where all cells answer; returns how many rows went there."""
        cells = self.store.cells
        return await self._visits.round({home.name: Part(cells, partial(self._forget, home)) for home in cells})

    async def _forget(self, home: Cell) -> int:
        return sum([await self._forget_kind(home, kind) for kind in KINDS])

    async def _forget_kind(self, home: Cell, kind: TombstoneRows) -> int:
        others = [cell for cell in self.store.cells if cell is not home]
        async with home.statement() as tx:
            before = tx.now - REMOVED_KEPT
            rows = await kind.removed(tx, before, BATCH)
        if len(rows) == BATCH:
            before = rows[-1]["changed_at"]  # what was removed in the same moment may not be among them
        for cell in others:
            async with cell.statement() as tx:
                await kind.copy(tx, rows)
        async with home.statement() as tx:
            gone = await kind.forget(tx, before, at_home=True)
        for cell in others:
            async with cell.statement() as tx:
                await kind.forget(tx, before, at_home=False)
        return gone
