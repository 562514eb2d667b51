"""Writes what this process counted in every cell, once a minute, and removes what is a day old."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from horae.store import signals
from horae.store.cells import Cell, Store
from horae.store.each import Visits

KEPT: Final = timedelta(days=1)
MOST: Final = 2000
FORGOTTEN_AT_ONCE: Final = 20_000


class Signaller:
    """A duty of every process that settles or hands out work. `writer` is the node's incarnation, if it is one."""

    def __init__(self, store: Store, writer: UUID) -> None:
        self.store = store
        self.writer = writer
        self._visits = Visits("signaller")

    async def once(self) -> int:
        """Every cell once; one that is down gets its counts later. Returns 0: there is no hurry."""
        return await self._visits.each(self.store.cells, self._write)

    async def _write(self, cell: Cell) -> None:
        counts = cell.tally.take(MOST)
        try:
            async with cell.statement() as tx:
                minute = tx.now.replace(second=0, microsecond=0)
                if counts:
                    await signals.write(tx, minute, self.writer, counts)
                    counts = {}
                await signals.gauge(tx, minute, self.writer)
                await signals.forget(tx, minute - KEPT, FORGOTTEN_AT_ONCE)
        except Exception:
            cell.tally.give_back(counts)
            raise
