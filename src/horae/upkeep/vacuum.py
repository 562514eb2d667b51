"""Vacuums the hot tables of every cell, also where the server's autovacuum cannot be tuned by us."""

import asyncio
from typing import Final

from horae.store.cells import Cell
from horae.store.connections.each_cell import Visits
from horae.store.databases import vacuum
from horae.store.store import Store

VACUUM_TIMEOUT_S: Final = 600.0
"""Seconds that the vacuum of one cell may take."""


class Vacuumer:
    """A duty: vacuum the live table in every round, and the larger, slower table of cursors in every 20th.

    While a session holds a snapshot there is nothing new to remove, and a vacuum would only read an ever larger table.
    """

    CURSORS_EVERY = 20
    """Rounds from one vacuum of the cursors to the next."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.rounds = 0
        self._horizons: dict[str, int | None] = {}
        self._visits = Visits("vacuumer")

    async def once(self) -> int:
        """Visit each cell once. Returns 0: the next round can wait."""
        await self._visits.each(self.store.cells, self._tidy)
        self.rounds += 1
        return 0

    async def _tidy(self, cell: Cell) -> None:
        async with asyncio.timeout(VACUUM_TIMEOUT_S), cell.direct(owner=True) as connection:
            horizon = await vacuum.horizon(connection)
            held = horizon is not None and self._horizons.get(cell.name) == horizon
            self._horizons[cell.name] = horizon
            if held:
                return
            await vacuum.live(connection)
            if self.rounds % self.CURSORS_EVERY == 0:
                await vacuum.cursors(connection)
