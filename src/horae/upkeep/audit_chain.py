"""Chains audit rows into blocks, a second or two after a change, and drops old blocks.

Any number of processes may do this for a cell: the next block has a fixed number, and the first to write it wins.
Holding a lease only spares the other processes most of their queries.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from horae.runtime.telemetry import log
from horae.store.audit import blocks
from horae.store.connections.each_cell import Visits
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import Tx

MOST_ENTRIES: Final = 5000
"""Audit rows in one block. A transaction that wrote more has a larger block of its own."""
EMPTY_BLOCK_INTERVAL: Final = timedelta(hours=1)
"""Time after which an empty block is written. It proves that nothing happened, and that a process checked."""
MOST_DROPPED: Final = 500
"""Blocks that one round drops from a cell."""


class AuditChainer:
    """A duty: write the next audit block of every cell that this process is responsible for."""

    LOOK_EVERY: Final = 30
    """Rounds after which every cell is checked, because the process responsible for it may be gone."""

    def __init__(self, store: StoreProtocol, mine: Callable[[CellProtocol], bool] = lambda _: True) -> None:
        self.store = store
        self._mine = mine
        self._rounds = 0
        self._visits = Visits("auditchainer")

    async def once(self) -> int:
        """Visit each cell once. Returns how many blocks were full: behind a full block there may be more rows."""
        self._rounds += 1
        anyone = self._rounds % self.LOOK_EVERY == 0
        return await self._visits.each(
            (cell for cell in self.store.cells if anyone or self._mine(cell)), self._append_block
        )

    async def _append_block(self, cell: CellProtocol) -> int:
        async with cell.statement() as tx:
            block = await blocks.append(tx, tx.now - EMPTY_BLOCK_INTERVAL, MOST_ENTRIES)
        return int(block is not None and block.entries >= MOST_ENTRIES)


class Dropper:
    """A duty: delete audit blocks older than `kept` with their rows. A checkpoint keeps the rest verifiable."""

    def __init__(self, store: StoreProtocol, kept: timedelta) -> None:
        self.store = store
        self.kept = kept
        self._visits = Visits("dropper")

    async def once(self) -> int:
        """Drop some blocks of every cell. Returns how many blocks were deleted."""
        return await self._visits.each(self.store.cells, self._drop)

    async def _drop(self, cell: CellProtocol) -> int:
        async def work(tx: Tx) -> int:
            gone = await blocks.expire(tx, tx.now - self.kept, MOST_DROPPED, MOST_ENTRIES)
            if gone is None:
                return 0
            rows = await blocks.forget_entries(tx, gone.until_xid)
            dropped = await blocks.forget_blocks(tx, gone.number)
            log.info("audit.blocks_deleted", cell=cell.name, blocks=dropped, rows=rows, until=gone.number)
            return dropped

        return await cell.run(work)
