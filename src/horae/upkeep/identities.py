"""Carries keys and role bindings from their home cell to all others, at most two seconds behind.

It runs beside the doors, which need them, and not in nodes, which may not read them.
"""

from horae.store import bindings, keys
from horae.store.cells import Cell, Store
from horae.store.walls import PLATFORM, behind
from horae.upkeep.looks import Looks


class IdentityCopier:
    """Brings every cell's keys and bindings to every other cell."""

    def __init__(self, store: Store) -> None:
        self.store = behind(store, PLATFORM)
        self._looks = Looks()

    async def once(self) -> int:
        """One look at each home; returns how many copies were written."""
        return sum([await self._carry(home) for home in self.store.cells])

    async def _carry(self, home: Cell) -> int:
        async with home.statement() as tx:
            now = tx.now
            since = self._looks.since(home.name, now)
            keys_, bindings_ = await keys.changed(tx, since), await bindings.changed(tx, since)
        written = 0
        for cell in self.store.cells:
            if cell is not home and (keys_ or bindings_):
                async with cell.statement() as tx:
                    written += await keys.copy(tx, keys_) + await bindings.copy(tx, bindings_)
        self._looks.done(home.name, now)
        return written
