"""Copies reference rows, data keys, secrets and channels from their home cell to all others, within two seconds."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Protocol

from horae.store.connections.each_cell import CellPart, Visits
from horae.store.encryption import data_keys, secrets
from horae.store.events import channels
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tenants import references
from horae.store.tx import Tx
from horae.upkeep.copy_scans import Looks

PAGE: Final = 500
"""Rows per page."""
FULL_PAGES: Final = 4
"""Pages of each kind of rows that a full scan copies in one round."""
TIMESTAMP_RESOLUTION: Final = timedelta(microseconds=1)
"""The resolution of timestamps in PostgreSQL."""


class Rows(Protocol):
    """A kind of rows that have one home and copies in other cells."""

    async def changed(self, tx: Tx, since: datetime, limit: int, /) -> Sequence[Any]:
        """Returns rows of this home that changed since a time, oldest first.

        Returns at least `limit` rows if there are as many, and all rows of the last timestamp.
        """

    async def copy(self, tx: Tx, rows: Any, /) -> int:
        """Write copies that are newer than the existing ones. Returns how many were written."""


class Copier:
    """A duty: copy rows of every cell to every other cell."""

    def __init__(
        self, store: StoreProtocol, rooms: Sequence[Rows] = (references, data_keys, secrets, channels)
    ) -> None:
        self.store = store
        self._rooms = rooms
        self._looks: dict[str, Looks] = {}
        self._visits = Visits("copier")

    async def once(self) -> int:
        """Visit each pair of home and other cell once. Returns how many copies were written, or 1 where there is more.

        Each pair has its own scan state, so a cell that is down misses no change, and blocks no copy to other cells.
        """
        ways = [(home, cell) for home in self.store.cells for cell in self.store.cells if cell is not home]
        return await self._visits.round(
            {
                f"{home.name} to {cell.name}": CellPart((home, cell), partial(self._carry, home, cell))
                for home, cell in ways
            }
        )

    async def _carry(self, home: CellProtocol, cell: CellProtocol) -> int:
        """Copy the recent changes, then some pages of the full scan."""
        looks = self._looks.setdefault(f"{home.name} to {cell.name}", Looks(len(self._rooms)))
        if cell.reach.is_down:
            await cell.sync_clock()  # fails early, before the rows are read
        async with home.statement() as tx:
            now, written = tx.now, 0
        for room in self._rooms:
            since: datetime | None = looks.since(now)
            while since is not None:
                done, since = await self._copy_page(home, cell, room, since)
                written += done
        looks.record_scan(now)
        looks.begin_full(now)
        for number in list(looks.left):
            for _ in range(FULL_PAGES):
                done, since = await self._copy_page(home, cell, self._rooms[number], looks.left[number])
                written += done
                looks.move_full(number, since, home.clock.now())
                if since is None:
                    break
        return written or int(bool(looks.left))

    async def _copy_page(
        self, home: CellProtocol, cell: CellProtocol, room: Rows, since: datetime
    ) -> tuple[int, datetime | None]:
        """Copy one page. Returns how many copies were written, and where the next page begins, None at the end."""
        async with home.statement() as tx:
            rows = await room.changed(tx, since, PAGE)
        written = 0
        if rows:
            async with cell.statement() as tx:
                written = await room.copy(tx, rows)
        return written, rows[-1]["changed_at"] + TIMESTAMP_RESOLUTION if len(rows) >= PAGE else None
