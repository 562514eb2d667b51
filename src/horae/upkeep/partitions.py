"""Keeps a week of daily partitions ahead: an instance that ends must always find its day."""

from typing import Final

from horae.runtime.telemetry import log
from horae.store import partitions
from horae.store.cells import Cell, Store
from horae.store.each import Visits
from horae.store.tx import LOCKED

ALARM: Final = 3


class Partitioner:
    """Makes the coming days' partitions in every cell."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._visits = Visits("partitioner")

    async def once(self) -> int:
        """Every cell once; returns how many partitions were made."""
        return await self._visits.each(self.store.cells, self._stock)

    async def _stock(self, cell: Cell) -> int:
        async with cell.statement() as tx:
            left = await partitions.days_ahead(tx)
        if left < ALARM:
            log.warning("partitions.short", cell=cell.name, days=left)
        try:
            return await partitions.stock(cell.statement)
        except LOCKED:
            log.warning("partitions.postponed", cell=cell.name, days=left)
            return 0
