"""Carries reference rows from their home cell to all others, at most two seconds behind."""

from horae.store import references
from horae.store.cells import Cell, Store
from horae.upkeep.looks import Looks


class Copier:
    """Brings every cell's reference rows to every other cell."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._looks = Looks()

    async def once(self) -> int:
        """One look at each home; returns how many copies were written."""
        return sum([await self._carry(home) for home in self.store.cells])

    async def _carry(self, home: Cell) -> int:
        async with home.statement() as tx:
            now = tx.now
            news = await references.changed(tx, self._looks.since(home.name, now))
        written = 0
        for cell in self.store.cells:
            if cell is not home and news:
                async with cell.statement() as tx:
                    written += await references.copy(tx, news)
        self._looks.done(home.name, now)
        return written
