"""The calendars that schedules name, read from the copies in this cell.

1. A node reads only calendars that due jobs name. It asks for their versions at most every two seconds, and reads the
   body of a calendar only if its version is new.
2. The bodies of each tenant are read by a separate statement: if it fails, only the jobs of this tenant wait.
3. If a calendar is not in the cell yet, nothing is decided about a job that names it. The job waits for the copy.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import Unavailable
from horae.domain.jobs.jobs import Job
from horae.domain.schedules import Schedule
from horae.domain.schedules.calendars import Calendar
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.schedules import calendars
from horae.store.tx import CUT

VERSION_REMEMBERED_S: Final = 2.0
"""Seconds for which a version counts as current."""
UNUSED_CALENDAR_KEPT_S: Final = 60.0
"""Seconds after which a calendar that no due job names any more is forgotten."""
Key = tuple[UUID, str]


class KnownCalendar(NamedTuple):
    """A calendar, its version, and the tick at which the version was last confirmed."""

    calendar: Calendar
    version: int
    asked_at: float


class Almanac:
    """A memory of the calendars that due jobs name."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self._known: dict[Key, KnownCalendar] = {}
        self._tidied_at = boottime()

    def __len__(self) -> int:
        """How many calendars are known."""
        return len(self._known)

    async def learn(self, jobs: Iterable[Job]) -> None:
        """Read the calendars that these jobs name and that are not current in memory."""
        now = boottime()
        self._tidy(now)
        named = {(job.tenant_id, name) for job in jobs for name in job.calendars}
        wanted = [key for key in named if not self._is_fresh(key, now)]
        if not wanted:
            return
        async with self.cell.statement() as tx:
            versions = await calendars.versions(tx, wanted)
        moved: dict[UUID, list[str]] = {}
        for key in wanted:
            known = self._known.get(key)
            if key not in versions:
                self._known.pop(key, None)
            elif known is not None and known.version == versions[key]:
                self._known[key] = known._replace(asked_at=now)
            else:
                moved.setdefault(key[0], []).append(key[1])
        for tenant_id, names in moved.items():
            await self._read(tenant_id, names, now)

    def schedule(self, job: Job) -> Schedule:
        """A job's schedule with the calendars it names. Raises `Unavailable` if one of them is not known."""
        found = {}
        for name in job.calendars:
            known = self._known.get((job.tenant_id, name))
            if known is None:
                raise Unavailable(f"calendar {name!r} is not known in this cell yet")
            found[name] = known.calendar
        return job.schedule(found)

    async def _read(self, tenant_id: UUID, names: Sequence[str], now: float) -> None:
        try:
            async with self.cell.statement() as tx:
                found = await calendars.copies(tx, tenant_id, names)
        except CUT as error:
            log.warning("calendars.not_loaded", tenant=tenant_id, count=len(names), reason=str(error))
            found = {}
        for name in names:
            self._known.pop((tenant_id, name), None)
        for name, copy in found.items():
            self._known[tenant_id, name] = KnownCalendar(copy.calendar, copy.version, now)

    def _is_fresh(self, key: Key, now: float) -> bool:
        known = self._known.get(key)
        return known is not None and now - known.asked_at < VERSION_REMEMBERED_S

    def _tidy(self, now: float) -> None:
        """Forget calendars that were not used for a minute. Runs at most once a minute."""
        if now - self._tidied_at < UNUSED_CALENDAR_KEPT_S:
            return
        self._tidied_at, oldest = now, now - UNUSED_CALENDAR_KEPT_S
        self._known = {key: known for key, known in self._known.items() if known.asked_at >= oldest}
