"""Writes the holds of this node to the cells, so that users see what an instance waits for."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from horae.domain.limits.holds import Hold
from horae.engine.admission.admission import Admission
from horae.engine.admission.target import CallDispatcher
from horae.runtime.clock import boottime
from horae.store.cells import Cell
from horae.store.connections.each_cell import Visits
from horae.store.limits import holds
from horae.store.limits.holds import HoldPlace

UNCHANGED_REWRITE_INTERVAL_S: Final = 60.0
"""Seconds after which unchanged rows are written again: upkeep may have deleted them while this node seemed dead."""
HoldRows = dict[HoldPlace, Hold]


class HoldWriter:
    """A duty of every two seconds. It sends no statement to a cell whose holds have not changed."""

    def __init__(self, admission: Admission, incarnation: UUID, cells: Mapping[CallDispatcher, Cell]) -> None:
        self._admission = admission
        self._incarnation = incarnation
        self._cells = cells
        self._written: dict[str, HoldRows] = {cell.name: {} for cell in cells.values()}
        self._rewritten_at = boottime()
        self._visits = Visits("holds")

    async def once(self) -> int:
        """Write what changed, with one statement per cell; returns 0."""
        rows: dict[str, HoldRows] = {name: {} for name in self._written}
        for dispatcher, hold in self._admission.holds():
            rows[self._cells[dispatcher].name][hold.tenant_id, hold.gate, hold.lane] = hold
        again = boottime() - self._rewritten_at >= UNCHANGED_REWRITE_INTERVAL_S
        if again:
            self._rewritten_at = boottime()
        return await self._visits.each(
            self._cells.values(), lambda cell: self._write(cell, rows[cell.name], again=again)
        )

    async def _write(self, cell: Cell, rows: HoldRows, *, again: bool) -> None:
        """Write the changes of one cell. If it cannot be reached, it gets them in a later round."""
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
