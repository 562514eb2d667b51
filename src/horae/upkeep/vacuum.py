"""Vacuums the hot tables of every cell, so that it also holds where the server's autovacuum is not ours to tune."""

import asyncio
from typing import Final

from horae.store import vacuum
from horae.store.cells import Cell, Store
from horae.store.each import Visits

PATIENCE: Final = 600.0


class Vacuumer:
    """The live table at every round, the cursors at every twentieth: they are larger and die more slowly.

    While someone holds a snapshot there is nothing new to remove, and looking for it would read an ever larger table.
    """

    CURSORS_EVERY = 20

    def __init__(self, store: Store) -> None:
        self.store = store
        self.rounds = 0
        self._horizons: dict[str, int | None] = {}
        self._visits = Visits("vacuumer")

    async def once(self) -> int:
        """Every cell once; nothing waits for more at once, so it says zero."""
        await self._visits.each(self.store.cells, self._tidy)
        self.rounds += 1
        return 0

    async def _tidy(self, cell: Cell) -> None:
        async with asyncio.timeout(PATIENCE), cell.direct(owner=True) as connection:
            horizon = await vacuum.horizon(connection)
            held = horizon is not None and self._horizons.get(cell.name) == horizon
            self._horizons[cell.name] = horizon
            if held:
                return
            await vacuum.live(connection)
            if self.rounds % self.CURSORS_EVERY == 0:
                await vacuum.cursors(connection)
