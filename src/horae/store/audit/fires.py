"""What an audit of fires reads: jobs that recur with their versions, pauses, calendars, backfills and rows."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.fire_audit.histories import RecordedFire, StoredBackfill
from horae.domain.fire_audit.plain import FireTimes
from horae.domain.fire_audit.rules import StoredCalendar, StoredVersion
from horae.store.statements import sql
from horae.store.tx import Tx

JobPlace = tuple[int, UUID]
"""The shard and the id of a job: the order in which jobs are read."""
BEGINNING: JobPlace = (-1, UUID(int=0))
"""A place before every job."""
CalendarKey = tuple[UUID, str]
"""The tenant and the name of a calendar."""


class JobRow(NamedTuple):
    """A job that recurs, and where its cursor stands. A protective measure may keep the cursor there."""

    shard: int
    id: UUID
    tenant_id: UUID
    name: str
    status: str
    cursor: datetime | None
    cursor_version: int | None
    may_be_withheld: bool | None


class HistoryEvent(NamedTuple):
    """An audit row that begins or ends a pause or a job."""

    resource: str
    at: datetime
    action: str
    detail: Any


async def jobs(tx: Tx, after: JobPlace, tenant_id: UUID | None, limit: int) -> list[JobRow]:
    """A page of the jobs that recur and are at home in this cell."""
    return [JobRow(*row) for row in await tx.rows(sql("audit/fires/jobs"), *after, tenant_id, limit)]


async def jobs_at(tx: Tx, places: Sequence[JobPlace]) -> list[JobRow]:
    """These jobs as they are now. A job that is gone, or whose shard has moved, is left out."""
    args = ([shard for shard, _ in places], [job_id for _, job_id in places])
    return [JobRow(*row) for row in await tx.rows(sql("audit/fires/jobs_at"), *args)]


async def overdue(tx: Tx, before: datetime, limit: int) -> list[JobRow]:
    """The active jobs of this cell whose cursors stand before a time, the oldest first."""
    return [JobRow(*row) for row in await tx.rows(sql("audit/fires/overdue"), before, limit)]


async def versions(tx: Tx, page: Sequence[JobRow]) -> dict[UUID, list[StoredVersion]]:
    """The versions of these jobs."""
    rows = await tx.rows(sql("audit/fires/versions"), [job.shard for job in page], [job.id for job in page])
    found: defaultdict[UUID, list[StoredVersion]] = defaultdict(list)
    for job_id, *columns in rows:
        found[job_id].append(StoredVersion(*columns))
    return found


async def rows(
    tx: Tx, job_ids: Sequence[UUID], since: datetime, until: datetime, ended_since: datetime
) -> dict[UUID, list[RecordedFire]]:
    """The rows of these jobs in this cell with fire times from `since` to `until`, live and ended."""
    found: defaultdict[UUID, list[RecordedFire]] = defaultdict(list)
    for job_id, *columns in await tx.rows(sql("audit/fires/rows"), job_ids, since, until, ended_since):
        found[job_id].append(RecordedFire(*columns))
    return found


async def fire_times(
    tx: Tx, job_ids: Sequence[UUID], since: datetime, until: datetime, ended_since: datetime
) -> dict[UUID, list[FireTimes]]:
    """The same rows as lists of times, one for each version and state."""
    found: defaultdict[UUID, list[FireTimes]] = defaultdict(list)
    for job_id, *columns in await tx.rows(sql("audit/fires/fire_times"), job_ids, since, until, ended_since):
        found[job_id].append(FireTimes(*columns))
    return found


async def events(tx: Tx, resources: Collection[str]) -> list[HistoryEvent]:
    """The audit rows of this cell that begin or end a pause or a job, oldest first."""
    return [HistoryEvent(*row) for row in await tx.rows(sql("audit/fires/events"), list(resources))]


async def calendars(tx: Tx, keys: Collection[CalendarKey]) -> dict[CalendarKey, StoredCalendar]:
    """These calendars, from the copies of this cell."""
    if not keys:
        return {}
    read = await tx.rows(sql("audit/fires/calendars"), *zip(*sorted(keys), strict=True))
    return {
        (tenant_id, name): msgspec.convert({**body, "changed_at": changed_at}, StoredCalendar, strict=False)
        for tenant_id, name, changed_at, body in read
    }


async def backfills(
    tx: Tx, job_ids: Sequence[UUID], since: datetime, until: datetime
) -> dict[UUID, list[StoredBackfill]]:
    """The backfills of these jobs that reach into the range."""
    found: defaultdict[UUID, list[StoredBackfill]] = defaultdict(list)
    for job_id, *columns in await tx.rows(sql("audit/fires/backfills"), job_ids, since, until):
        found[job_id].append(StoredBackfill(*columns))
    return found
