"""Deletes the rows of removed things (tombstones).

The row of a removed thing stays for a day without its value, so that every copy learns of the removal. Then it is
deleted:

1. The removals of a home that are older than a day are written to every other cell once more, so that a cell that was
   down for long has them. If a cell is down now, all removals of the home stay.
2. They are deleted at home, then in the other cells.
3. A copier that read such a row before step 2 may write a copy of it afterwards. A later round deletes that copy. If
   the name was used again by then, the newer row replaces it (`copy.sql` of each kind).
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, Protocol

from horae.domain.limits.counts import REMOVED_KEPT
from horae.store.connections.each_cell import CellPart, Visits
from horae.store.encryption import secrets
from horae.store.events import channels
from horae.store.identity import api_keys, role_bindings
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import Tx

BATCH: Final = 1000
"""Rows of one kind that one round deletes at a home."""


class TombstoneRows(Protocol):
    """A kind of rows that have one home and copies in other cells, and stay for a while after their removal."""

    async def removed(self, tx: Tx, before: datetime, limit: int, /) -> Sequence[Any]:
        """Returns the rows of this home that were removed before a time, oldest first."""

    async def copy(self, tx: Tx, rows: Any, /) -> int:
        """Write copies that are newer than the existing ones."""

    async def forget(self, tx: Tx, before: datetime, /, *, at_home: bool) -> int:
        """Delete rows that were removed before a time, at home or as copies. Returns how many."""


KINDS: Final[tuple[TombstoneRows, ...]] = (secrets, channels, api_keys, role_bindings)


class TombstoneForgetter:
    """A duty: one round deletes a batch of each kind at every home."""

    def __init__(self, store: StoreProtocol) -> None:
        self.store = store
        self._visits = Visits("tombstones")

    async def once(self) -> int:
        """Visit each home once, if all cells answer. Returns how many rows were deleted at home."""
        cells = self.store.cells
        return await self._visits.round({home.name: CellPart(cells, partial(self._forget, home)) for home in cells})

    async def _forget(self, home: CellProtocol) -> int:
        return sum([await self._forget_kind(home, kind) for kind in KINDS])

    async def _forget_kind(self, home: CellProtocol, kind: TombstoneRows) -> int:
        others = [cell for cell in self.store.cells if cell is not home]
        async with home.statement() as tx:
            before = tx.now - REMOVED_KEPT
            rows = await kind.removed(tx, before, BATCH)
        if len(rows) == BATCH:
            before = rows[-1]["changed_at"]  # others with the same timestamp may be on the next page
        for cell in others:
            async with cell.statement() as tx:
                await kind.copy(tx, rows)
        async with home.statement() as tx:
            gone = await kind.forget(tx, before, at_home=True)
        for cell in others:
            async with cell.statement() as tx:
                await kind.forget(tx, before, at_home=False)
        return gone
