"""Writes the counts of this process to every cell once a minute, and deletes old ones: signals, and service levels."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from horae.domain.health.delay_causes import NodeStrain
from horae.runtime.clock import boottime
from horae.store.connections.each_cell import Visits
from horae.store.health import service_level, signals
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import Tx

SIGNALS_KEPT: Final = timedelta(days=1)
MOST: Final = 2000
"""Counts that one round writes to a cell."""
FORGOTTEN_AT_ONCE: Final = 20_000
"""Old rows that one round deletes in a cell."""


class Signaller:
    """A duty of every process that settles or hands out work. `writer` is the incarnation of a node, if it is one.

    `take_load` returns the part of its slots that the node has used since the last round; None: it is no node.
    `take_strains` returns what the node noticed since then, by cell.
    """

    def __init__(
        self,
        store: StoreProtocol,
        writer: UUID,
        take_load: Callable[[], float | None] = lambda: None,
        take_strains: Callable[[], Mapping[str, NodeStrain]] = dict,
    ) -> None:
        self.store = store
        self.writer = writer
        self.take_load = take_load
        self.take_strains = take_strains
        self._load: float | None = None
        self._strains: Mapping[str, NodeStrain] = {}
        self._statement_ms: dict[str, float] = {}
        self._visits = Visits("signaller")

    async def once(self) -> int:
        """Visit each cell once; one that is down gets its counts later. Returns 0: the next round can wait."""
        self._load, self._strains = self.take_load(), self.take_strains()
        return await self._visits.each(self.store.cells, self._write)

    async def _write(self, cell: CellProtocol) -> None:
        counts, levels = cell.signal_counts.take(MOST), cell.level_counts.take(MOST)
        try:
            async with cell.statement() as tx:
                minute = tx.now.replace(second=0, microsecond=0)
                if counts:
                    await signals.write(tx, minute, self.writer, counts)
                    counts = {}
                if self._load is not None:
                    await self._write_load(tx, cell.name, minute, self._load)
                await signals.gauge(tx, minute, self.writer)
                await signals.forget(tx, minute - SIGNALS_KEPT, FORGOTTEN_AT_ONCE)
                if levels:
                    await service_level.write(tx, levels)
                    levels = []
                await service_level.forget(tx, FORGOTTEN_AT_ONCE)
        except Exception:
            cell.signal_counts.give_back(counts)
            cell.level_counts.give_back(levels)
            raise

    async def _write_load(self, tx: Tx, cell: str, minute: datetime, load: float) -> None:
        """Write the load and the strain of the node, with the time that this statement took in the round before."""
        strain = replace(self._strains.get(cell, NodeStrain()), statement_ms=self._statement_ms.get(cell, 0.0))
        began = boottime()
        await signals.write_load(tx, minute, self.writer, load, strain)
        self._statement_ms[cell] = round((boottime() - began) * 1000, 1)
