"""Carries the generation of every cell to all others, and closes a database that a restored cell has replaced.

A site that was lost may come back with its old database. It looks healthy by itself; only other cells know that the
cell was restored elsewhere meanwhile.
"""

from datetime import datetime

from horae.domain.errors import Unfit
from horae.domain.restores.generations import is_outdated
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.connections.each_cell import Visits
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.restores import generations
from horae.store.tx import Tx


class GenerationWatch:
    """A duty: compare the generation of each cell with the newest that any cell has heard of."""

    def __init__(self, store: StoreProtocol) -> None:
        self.store = store
        self._own: dict[str, int] = {}
        self._newest: dict[str, int] = {}
        self._visits = Visits("generationwatch")

    async def once(self) -> int:
        """Visit each cell twice: first learn what all of them know, then compare. Returns how many were closed."""
        await self.learn()
        return await self._visits.each(self.store.cells, self._compare)

    async def learn(self) -> None:
        """Read what the open cells know of each other. It changes nothing, so a role that only reads may do it."""
        await self._visits.each(self.store.cells, self._learn)

    def outdated(self) -> dict[str, str]:
        """The cells that were of the past when they were last read, each with the reason."""
        newest = {name: (own, self._newest[name]) for name, own in self._own.items()}
        return {name: _reason(own, new) for name, (own, new) in newest.items() if is_outdated(own, new)}

    async def check(self, cell: Cell, now: datetime) -> None:
        """Refuse a cell that is to join, if another cell has heard of a newer generation. Its clock is not read yet."""
        async with cell.direct() as connection:
            record, _ = await generations.read(Tx(connection, now))
        newest = self._newest.get(cell.name, 0)
        if is_outdated(record.generation, newest):
            raise Unfit(f"{cell.name}: {_reason(record.generation, newest)}")

    async def _learn(self, cell: CellProtocol) -> int:
        async with cell.statement() as tx:
            record, _ = await generations.read(tx)
            heard = await generations.witnesses(tx)
        self._own[cell.name] = record.generation
        for name, generation in [(cell.name, record.generation), *heard.items()]:
            self._newest[name] = max(generation, self._newest.get(name, 0))
        return 0

    async def _compare(self, cell: CellProtocol) -> int:
        async with cell.statement() as tx:
            record, _ = await generations.read(tx)
            heard = await generations.witnesses(tx)
        newest = self._newest.get(cell.name, record.generation)
        closed = is_outdated(record.generation, newest) and await self._close(cell, record.generation, newest)
        for other in self.store.cells:
            known = self._newest.get(other.name, 0)
            if other is not cell and heard.get(other.name, 0) < known:
                async with cell.statement() as tx:
                    await generations.witness(tx, other.name, known)
        return int(closed)

    async def _close(self, cell: CellProtocol, generation: int, newest: int) -> bool:
        async def close(tx: Tx) -> bool:
            return await generations.close(tx, generation, _reason(generation, newest))

        closed = await cell.run(close)
        if closed:
            log.error("cell.outdated", cell=cell.name, generation=generation, newest=newest)
        return closed


def _reason(generation: int, newest: int) -> str:
    return f"this database is of generation {generation}; the cell was restored elsewhere, and has {newest} there"
