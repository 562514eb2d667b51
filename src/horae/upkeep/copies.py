"""Carries reference rows, data keys, secrets and channels from home to all other cells, at most two seconds behind."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from horae.store import channels, data_keys, references, secrets
from horae.store.cells import Cell, Store
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

    async def once(self) -> int:
        """One look at each home; returns how many copies were written."""
        return sum([await self._carry(home) for home in self.store.cells])

    async def _carry(self, home: Cell) -> int:
        async with home.statement() as tx:
            now = tx.now
            since = self._looks.since(home.name, now)
            found = [(room, await room.changed(tx, since)) for room in self._rooms]
        news = [(room, rows) for room, rows in found if rows]
        written = 0
        for cell in self.store.cells:
            if cell is not home and news:
                async with cell.statement() as tx:
                    written += sum([await room.copy(tx, rows) for room, rows in news])
        self._looks.done(home.name, now)
        return written
