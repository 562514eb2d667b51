"""Carries reference rows, data keys, secrets and channels from home to all other cells, at most two seconds behind."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Protocol

from horae.store import channels, data_keys, references, secrets
from horae.store.cells import Cell, Store
from horae.store.each import Part, Visits
from horae.store.tx import Tx
from horae.upkeep.looks import Looks

PAGE: Final = 500
FULL_PAGES: Final = 4
"""Pages of each room that a full look carries in one round."""
MOMENT: Final = timedelta(microseconds=1)


class Rows(Protocol):
    """A room of the store whose rows have one home and copies elsewhere."""

    async def changed(self, tx: Tx, since: datetime, limit: int, /) -> Sequence[Any]:
        """What changed at home here since a time, the oldest change first, whole moments: at least `limit`."""

    async def copy(self, tx: Tx, rows: Any, /) -> int:
        """Write copies where they are newer than what is there; returns how many were."""


class Copier:
    """Brings every cell's reference rows, or rows of other rooms, to every other cell."""

    def __init__(self, store: Store, rooms: Sequence[Rows] = (references, data_keys, secrets, channels)) -> None:
        self.store = store
        self._rooms = rooms
        self._looks: dict[str, Looks] = {}
        self._visits = Visits("copier")

    async def once(self) -> int:
        """One look at each home for each other cell; returns how many copies were written, or that there is more.

        Every way from one cell to another has its own looks: a cell that is down misses nothing, and keeps no copy from
        the others.
        """
        ways = [(home, cell) for home in self.store.cells for cell in self.store.cells if cell is not home]
        return await self._visits.round(
            {f"{home.name} to {cell.name}": Part((home, cell), partial(self._carry, home, cell)) for home, cell in ways}
        )

    async def _carry(self, home: Cell, cell: Cell) -> int:
        """What changed lately, then some pages of the full look."""
        looks = self._looks.setdefault(f"{home.name} to {cell.name}", Looks(len(self._rooms)))
        if cell.reach.is_down:
            await cell.sync_clock()  # before the look, which may be a full one
        async with home.statement() as tx:
            now, written = tx.now, 0
        for room in self._rooms:
            since: datetime | None = looks.since(now)
            while since is not None:
                done, since = await self._copy_page(home, cell, room, since)
                written += done
        looks.looked(now)
        looks.begin_full(now)
        for number in list(looks.left):
            for _ in range(FULL_PAGES):
                done, since = await self._copy_page(home, cell, self._rooms[number], looks.left[number])
                written += done
                looks.move_full(number, since, home.clock.now())
                if since is None:
                    break
        return written or int(bool(looks.left))

    async def _copy_page(self, home: Cell, cell: Cell, room: Rows, since: datetime) -> tuple[int, datetime | None]:
        """Returns how many copies were written, and from when on there is more."""
        async with home.statement() as tx:
            rows = await room.changed(tx, since, PAGE)
        written = 0
        if rows:
            async with cell.statement() as tx:
                written = await room.copy(tx, rows)
        return written, rows[-1]["changed_at"] + MOMENT if len(rows) >= PAGE else None
