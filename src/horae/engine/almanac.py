"""The calendars that schedules name, as this cell's copies have them; read anew every two seconds."""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from horae.domain.calendars import Calendar
from horae.domain.jobs import Job
from horae.domain.schedule import Schedule
from horae.runtime.clock import boottime
from horae.store import calendars
from horae.store.cells import Cell
from horae.store.tx import Tx

REMEMBERED: Final = 2.0


class Almanac:
    """Knows the calendars of the tenants whose jobs use any."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self._known: dict[tuple[UUID, str], Calendar] = {}
        self._read_at: dict[UUID, float] = {}

    async def learn(self, tx: Tx, jobs: Iterable[Job]) -> None:
        """Read what these jobs will ask for; nothing where none of them names a calendar."""
        now = boottime()
        wanted = {
            job.tenant_id
            for job in jobs
            if job.calendars and now - self._read_at.get(job.tenant_id, -REMEMBERED) >= REMEMBERED
        }
        if wanted:
            self._known.update(await calendars.copies(tx, list(wanted)))
            self._read_at.update(dict.fromkeys(wanted, now))

    def schedule(self, job: Job) -> Schedule:
        """A job's schedule with the calendars it names; an unknown one makes its days unknown, never open."""
        found = {}
        for name in job.calendars:
            calendar = self._known.get((job.tenant_id, name))
            if calendar is not None:
                found[name] = calendar
        return job.schedule(found)
