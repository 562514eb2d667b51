"""The calendars that schedules name, as this cell's copies have them.

1. A node asks for the calendars that due jobs name, and for no others: every two seconds for their versions, and for
   the body of one whose version it does not have.
2. The bodies of one tenant are read by themselves: a read that fails leaves the jobs of this tenant where they stand.
3. A calendar that is not in the cell says nothing about any day. A job that names it is not decided: it waits until the
   copy comes.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.calendars import Calendar
from horae.domain.errors import Unavailable
from horae.domain.jobs import Job
from horae.domain.schedule import Schedule
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store import calendars
from horae.store.cells import Cell
from horae.store.tx import CUT

REMEMBERED_S: Final = 2.0
KEPT_UNUSED_S: Final = 60.0
"""Seconds after which a calendar that no due job names any more is forgotten."""
Key = tuple[UUID, str]


class KnownCalendar(NamedTuple):
    """A calendar, the version it has, and when that was asked for last."""

    calendar: Calendar
    version: int
    asked_at: float


class Almanac:
    """Knows the calendars that due jobs name."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self._known: dict[Key, KnownCalendar] = {}
        self._tidied_at = boottime()

    def __len__(self) -> int:
        """How many calendars are known."""
        return len(self._known)

    async def learn(self, jobs: Iterable[Job]) -> None:
        """Read what these jobs will ask for; nothing where none of them names a calendar."""
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
        """A job's schedule with the calendars it names. Raises where one of them is not known: nothing is decided."""
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
            log.warning("calendars.unread", tenant=str(tenant_id), count=len(names), reason=str(error))
            found = {}
        for name in names:
            self._known.pop((tenant_id, name), None)
        for name, copy in found.items():
            self._known[tenant_id, name] = KnownCalendar(copy.calendar, copy.version, now)

    def _is_fresh(self, key: Key, now: float) -> bool:
        known = self._known.get(key)
        return known is not None and now - known.asked_at < REMEMBERED_S

    def _tidy(self, now: float) -> None:
        """Forget what was not asked for lately; looked at once in that time."""
        if now - self._tidied_at < KEPT_UNUSED_S:
            return
        self._tidied_at, oldest = now, now - KEPT_UNUSED_S
        self._known = {key: known for key, known in self._known.items() if known.asked_at >= oldest}
