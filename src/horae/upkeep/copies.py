"""Carries reference rows from their home cell to all others, at most two seconds behind.

A change may be committed after a later one was seen, so each look reaches 30 s back, and a full one runs every
minute. A copy is written only over an older version, hence looks may overlap as they like.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from horae.store import references
from horae.store.cells import Cell, Store

BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
SLACK: Final = timedelta(seconds=30)
FULL: Final = timedelta(seconds=60)


class Copier:
    """Brings every cell's reference rows to every other cell."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._looked: dict[str, datetime] = {}
        self._full: dict[str, datetime] = {}

    async def once(self) -> int:
        """One look at each home; returns how many copies were written."""
        return sum([await self._carry(home) for home in self.store.cells])

    async def _carry(self, home: Cell) -> int:
        async with home.statement() as tx:
            now = tx.now
            news = await references.changed(tx, self._since(home, now))
        written = 0
        for cell in self.store.cells:
            if cell is not home and news:
                async with cell.statement() as tx:
                    written += await references.copy(tx, news)
        self._looked[home.name] = now
        return written

    def _since(self, home: Cell, now: datetime) -> datetime:
        full = self._full.get(home.name)
        if full is None or now - full >= FULL:
            self._full[home.name] = now
            return BEGINNING
        return self._looked[home.name] - SLACK
