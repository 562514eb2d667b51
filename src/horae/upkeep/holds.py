"""Takes away what nodes that died had written about the calls they held back."""

from typing import Final

from horae.runtime.telemetry import log
from horae.store import holds
from horae.store.cells import Store
from horae.store.tx import CUT, GONE

BATCH: Final = 1000


class HoldSweeper:
    """A duty of once a minute: one round takes a batch from every cell."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def once(self) -> int:
        """Every cell once; returns how many rows went."""
        went = 0
        for cell in self.store.cells:
            try:
                async with cell.statement() as tx:
                    went += await holds.forget(tx, BATCH)
            except (*GONE, *CUT) as error:
                log.warning("holds.not_swept", cell=cell.name, reason=type(error).__name__)
        return went
