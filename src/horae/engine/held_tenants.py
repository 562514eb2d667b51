"""The held tenants of one cell: paused or removed. Read when the pulse shows a change, and before fires.

The rows of a held tenant are not scanned, not fired and not claimed. When the tenant is resumed, nothing has to be
written for its jobs: each due cursor before the time of the resume records the fires it missed as one PAUSED range.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final
from uuid import UUID

from horae.engine.agenda import Agenda
from horae.runtime.clock import boottime
from horae.store.cells import Cell
from horae.store.tenants import tenants

HELD_TENANTS_REMEMBERED_S: Final = 1.0
"""Seconds for which the list of held tenants counts as current."""


class Tenancies:
    """A duty. Before timers are offered, `learn` makes sure that the list is at most a second old."""

    def __init__(self, cell: Cell, agenda: Agenda, resumed: Callable[[], None]) -> None:
        self.cell = cell
        self.agenda = agenda
        self.resumed = resumed
        self._until: dict[UUID, datetime] = {}
        self._learnt_at = -HELD_TENANTS_REMEMBERED_S

    @property
    def held(self) -> frozenset[UUID]:
        """The held tenants."""
        return self.agenda.held

    def paused_until(self, tenant_id: UUID) -> datetime | None:
        """When a paused tenant was resumed. Its fires before that time are recorded as PAUSED."""
        return self._until.get(tenant_id)

    async def once(self) -> int:
        """Read the list from the cell's copies of tenants; returns 0."""
        async with self.cell.statement() as tx:
            known = await tenants.held(tx)
        self._learnt_at = boottime()
        self._until = {one.id: one.until for one in known if one.until is not None}
        before, now = self.agenda.held, frozenset(one.id for one in known if one.held)
        self.agenda.held = now
        if before - now:
            self.resumed()
        return 0

    async def learn(self, *, force: bool = False) -> None:
        """Read the list if it is older than a second; with `force` in any case."""
        if force or boottime() - self._learnt_at >= HELD_TENANTS_REMEMBERED_S:
            await self.once()
