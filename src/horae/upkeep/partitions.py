"""Keeps a week of daily partitions ahead: an instance that ends must always find its day."""

from typing import Final

from horae.runtime.telemetry import log
from horae.store import partitions
from horae.store.cells import Store
from horae.store.tx import LOCKED

ALARM: Final = 3


class Partitioner:
    """Makes the coming days' partitions in every cell."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def once(self) -> int:
        """Every cell once; returns how many partitions were made."""
        made = 0
        for cell in self.store.cells:
            async with cell.statement() as tx:
                left = await partitions.days_ahead(tx)
                if left < ALARM:
                    log.warning("partitions.short", cell=cell.name, days=left)
                try:
                    made += await partitions.stock(tx)
                except LOCKED:
                    log.warning("partitions.postponed", cell=cell.name, days=left)
        return made
