"""A duty in one cell that may be down."""

from horae.runtime.loop import Duty, RoundPostponed
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.connections.each_cell import UNSERVED


class CellDuty:
    """Runs a duty of one cell. If the cell cannot serve it, this is logged once, and the round is postponed.

    A postponed round does not count as a successful one, so the progress watch sees that the duty stands still.
    """

    def __init__(self, name: str, cell: Cell, duty: Duty) -> None:
        self.duty = duty
        self._name = name
        self._cell = cell
        self._failing = False

    async def once(self) -> int:
        """One round of the duty; returns how much it did."""
        try:
            done = await self.duty.once()
        except UNSERVED as error:
            if not self._failing and not self._cell.reach.is_down:
                reason = str(error)[:500] or type(error).__name__
                log.warning("duty.cell_skipped", duty=self._name, cell=self._cell.name, reason=reason)
            self._failing = True
            raise RoundPostponed(str(error)) from error
        self._failing = False
        return done
