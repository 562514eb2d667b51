"""Which tenants are held in one cell, as its copies say; read anew when the pulse tells of a change, and before fires.

A held tenant's rows are not looked at, not fired and not claimed. When it goes on, nothing has to be written for its
jobs: each cursor that comes due and stands before the time of the resume tells what it passed as one PAUSED range.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final
from uuid import UUID

from horae.engine.agenda import Agenda
from horae.runtime.clock import boottime
from horae.store import tenants
from horae.store.cells import Cell

REMEMBERED: Final = 1.0


class Tenancies:
    """A duty; whoever fires asks first that it is not older than a second."""

    def __init__(self, cell: Cell, agenda: Agenda, resumed: Callable[[], None]) -> None:
        self.cell = cell
        self.agenda = agenda
        self.resumed = resumed
        self._until: dict[UUID, datetime] = {}
        self._learnt_at = -REMEMBERED

    @property
    def held(self) -> frozenset[UUID]:
        """Those whose rows are left alone."""
        return self.agenda.held

    def paused_until(self, tenant_id: UUID) -> datetime | None:
        """When a tenant that was paused went on; what it passed before is told as that."""
        return self._until.get(tenant_id)

    async def once(self) -> int:
        """Read the copies; returns 0, there is no hurry."""
        async with self.cell.statement() as tx:
            known = await tenants.held(tx)
        self._learnt_at = boottime()
        self._until = {one.id: one.until for one in known if one.until is not None}
        before, now = self.agenda.held, frozenset(one.id for one in known if one.held)
        self.agenda.held = now
        if before - now:
            self.resumed()
        return 0

    async def learn(self, *, anew: bool = False) -> None:
        """Know it, at most a second ago."""
        if anew or boottime() - self._learnt_at >= REMEMBERED:
            await self.once()
