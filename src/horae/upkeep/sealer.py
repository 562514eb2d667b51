"""Seals the audit log of every cell, a second or two after a change, and drops whole blocks when their time is over.

Any number of sealers may work on a cell: the next block has one number, and whoever writes it first has it. Holding a
lease only saves the others most of their looks.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from horae.runtime.telemetry import log
from horae.store import blocks
from horae.store.cells import Cell, Store
from horae.store.each import Visits
from horae.store.tx import Tx

MOST_ENTRIES: Final = 5000
HEARTBEAT: Final = timedelta(hours=1)
"""An empty block says that nothing happened, and that somebody looked."""
MOST_DROPPED: Final = 500


class Sealer:
    """A duty: one block for every cell that is ours to seal; it is called again at once while there is more."""

    LOOK_EVERY: Final = 30
    """Rounds after which a cell is looked at whoever it belongs to: he who should seal it may be gone."""

    def __init__(self, store: Store, mine: Callable[[Cell], bool] = lambda _: True) -> None:
        self.store = store
        self._mine = mine
        self._rounds = 0
        self._visits = Visits("sealer")

    async def once(self) -> int:
        """Every cell once; returns how many blocks were full, for behind those there is more."""
        self._rounds += 1
        anyone = self._rounds % self.LOOK_EVERY == 0
        return await self._visits.each((cell for cell in self.store.cells if anyone or self._mine(cell)), self._seal)

    async def _seal(self, cell: Cell) -> int:
        async with cell.statement() as tx:
            block = await blocks.seal(tx, tx.now - HEARTBEAT, MOST_ENTRIES)
        return int(block is not None and block.entries >= MOST_ENTRIES)


class Dropper:
    """A duty: blocks older than `kept` go with their rows, and the checkpoint keeps the chain verifiable."""

    def __init__(self, store: Store, kept: timedelta) -> None:
        self.store = store
        self.kept = kept
        self._visits = Visits("dropper")

    async def once(self) -> int:
        """A portion of every cell; returns how many blocks went."""
        return await self._visits.each(self.store.cells, self._drop)

    async def _drop(self, cell: Cell) -> int:
        async def work(tx: Tx) -> int:
            gone = await blocks.expire(tx, tx.now - self.kept, MOST_DROPPED, MOST_ENTRIES)
            if gone is None:
                return 0
            rows = await blocks.forget_entries(tx, gone.until_xid)
            dropped = await blocks.forget_blocks(tx, gone.number)
            log.info("audit.dropped", cell=cell.name, blocks=dropped, rows=rows, until=gone.number)
            return dropped

        return await cell.run(work)
