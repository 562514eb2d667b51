"""Writes what this node holds back, so that whoever looks at an instance sees what it waits for."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from horae.domain.holds import Hold
from horae.engine.admission.gatekeeper import Gatekeeper
from horae.engine.admission.ready import Desk
from horae.runtime.clock import boottime
from horae.store import holds
from horae.store.cells import Cell
from horae.store.each import Visits
from horae.store.holds import HoldPlace

REWRITTEN_EVERY_S: Final = 60.0
"""Seconds after which rows are written again though nothing changed: upkeep takes those of a node that seemed dead."""
HoldRows = dict[HoldPlace, Hold]


class HoldWriter:
    """A duty of every two seconds. It asks a cell nothing while nothing is held back for it, and nothing was before."""

    def __init__(self, gatekeeper: Gatekeeper, incarnation: UUID, cells: Mapping[Desk, Cell]) -> None:
        self._gatekeeper = gatekeeper
        self._incarnation = incarnation
        self._cells = cells
        self._written: dict[str, HoldRows] = {cell.name: {} for cell in cells.values()}
        self._rewritten_at = boottime()
        self._visits = Visits("holds")

    async def once(self) -> int:
        """Write what changed in every cell, each with one statement; returns 0: there is no hurry."""
        rows: dict[str, HoldRows] = {name: {} for name in self._written}
        for desk, hold in self._gatekeeper.holds():
            rows[self._cells[desk].name][hold.tenant_id, hold.gate, hold.lane] = hold
        again = boottime() - self._rewritten_at >= REWRITTEN_EVERY_S
        if again:
            self._rewritten_at = boottime()
        return await self._visits.each(
            self._cells.values(), lambda cell: self._write(cell, rows[cell.name], again=again)
        )

    async def _write(self, cell: Cell, rows: HoldRows, *, again: bool) -> None:
        """A cell that cannot be asked keeps what it has, and gets the difference later."""
        written = self._written[cell.name]
        ended = [place for place in written if place not in rows]
        changed = [hold for place, hold in rows.items() if again or hold.differs(written.get(place))]
        if not ended and not changed:
            return
        async with cell.statement() as tx:
            await holds.write(tx, self._incarnation, ended, changed)
        for place in ended:
            del written[place]
        for hold in changed:
            written[hold.tenant_id, hold.gate, hold.lane] = hold
