"""Carries reference rows, data keys, secrets and channels from home to all other cells, at most two seconds behind."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from horae.store import channels, data_keys, references, secrets
from horae.store.cells import Cell, Store
from horae.store.each import Part, Visits
from horae.store.tx import Tx
from horae.upkeep.looks import Looks


class Rows(Protocol):
    """A room of the store whose rows have one home and copies elsewhere."""

    async def changed(self, tx: Tx, since: datetime, /) -> Sequence[Any]:
        """What changed at home here since a time."""

    async def copy(self, tx: Tx, rows: Any, /) -> int:
        """Write copies where they are newer than what is there; returns how many were."""


class Copier:
    """Brings every cell's reference rows, or rows of other rooms, to every other cell."""

    def __init__(self, store: Store, rooms: Sequence[Rows] = (references, data_keys, secrets, channels)) -> None:
        self.store = store
        self._rooms = rooms
        self._looks = Looks()
        self._visits = Visits("copier")

    async def once(self) -> int:
        """One look at each home for each other cell; returns how many copies were written.

        Every way from one cell to another has its own looks: a cell that is down misses nothing, and keeps no copy from
        the others.
        """
        ways = [(home, cell) for home in self.store.cells for cell in self.store.cells if cell is not home]
        return await self._visits.round(
            {f"{home.name} to {cell.name}": Part((home, cell), partial(self._carry, home, cell)) for home, cell in ways}
        )

    async def _carry(self, home: Cell, cell: Cell) -> int:
        way = f"{home.name} to {cell.name}"
        if cell.reach.is_down:
            await cell.sync_clock()  # before the look, which may be a full one
        async with home.statement() as tx:
            now = tx.now
            since = self._looks.since(way, now)
            found = [(room, await room.changed(tx, since)) for room in self._rooms]
        news = [(room, rows) for room, rows in found if rows]
        written = 0
        if news:
            async with cell.statement() as tx:
                written = sum([await room.copy(tx, rows) for room, rows in news])
        self._looks.done(way, since, now)
        return written
