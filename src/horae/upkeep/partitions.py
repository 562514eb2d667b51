"""Keeps a week of daily partitions ahead, because an instance that ends must find the partition of its day."""

from typing import Final

from horae.runtime.telemetry import log
from horae.store.connections.each_cell import Visits
from horae.store.databases import partitions
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import LOCKED

ALARM_DAYS_AHEAD: Final = 3
"""Days ahead below which a warning is logged."""


class Partitioner:
    """A duty: create the partitions of the next days in every cell."""

    def __init__(self, store: StoreProtocol) -> None:
        self.store = store
        self._visits = Visits("partitioner")

    async def once(self) -> int:
        """Visit each cell once. Returns how many partitions were created."""
        return await self._visits.each(self.store.cells, self._stock)

    async def _stock(self, cell: CellProtocol) -> int:
        async with cell.statement() as tx:
            left = await partitions.days_ahead(tx)
        if left < ALARM_DAYS_AHEAD:
            log.warning("partitions.running_out", cell=cell.name, days=left)
        try:
            return await partitions.stock(cell.statement)
        except LOCKED:
            log.warning("partitions.postponed", cell=cell.name, days=left)
            return 0
