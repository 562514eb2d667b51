"""Reads the evidence of a tenant's day from all cells: jobs, versions, pauses, calendars, backfills and rows."""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import date
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple
from uuid import UUID

from horae.archive.targets import ArchiveTarget
from horae.domain.certificates.certificates import range_of
from horae.domain.certificates.evidence import (
    DayEvidence,
    EvidenceRow,
    JobEvidence,
)
from horae.domain.errors import Conflict, Invalid, NoLongerKept
from horae.domain.fire_audit.histories import StoredBackfill
from horae.domain.fire_audit.pauses import EVENT_ACTIONS, PauseEvent, event_of
from horae.domain.fire_audit.rules import StoredCalendar, StoredVersion
from horae.domain.ids import Prefix, public
from horae.service.audit.archived_fires import NOTHING_ARCHIVED, ArchivedRange, read_archive
from horae.service.audit.fire_facts import ENDS_BEFORE
from horae.service.context import Context
from horae.store.audit import fires
from horae.store.audit.fires import BEGINNING, JobRow
from horae.store.certificates import evidence
from horae.store.databases import days
from horae.store.protocol import CellProtocol
from horae.store.tx import Tx

PAGE: Final = 500
"""Jobs per page."""
Events = dict[str, list[PauseEvent]]
"""The pauses and ends of jobs and of the tenant, by resource."""


class JobPage(NamedTuple):
    """A page of jobs, and what decides their fires."""

    jobs: Sequence[JobRow]
    versions: dict[UUID, list[StoredVersion]]
    backfills: dict[UUID, list[StoredBackfill]]
    calendars: dict[str, StoredCalendar]


async def read_evidence(ctx: Context, day: date, archive: ArchiveTarget | None = None) -> DayEvidence:
    """Read the evidence of a day. Every cell must answer: with one left out, fires would seem to be missing."""
    archived = await _read_dropped(ctx, day, archive)
    events = await _events(ctx)
    read_at = ctx.now()
    jobs, calendars = list[JobEvidence](), dict[str, StoredCalendar]()
    for cell in ctx.store.cells:
        async for page in _pages(ctx, cell, day):
            calendars |= page.calendars
            rows = await _rows(ctx, [job.id for job in page.jobs], day, archived)
            jobs += [_job_evidence(job, page, events, rows.get(job.id, [])) for job in page.jobs]
    return DayEvidence(
        tenant_id=ctx.tenant.id,
        tenant=ctx.tenant.name,
        day=day,
        read_at=read_at,
        tenant_events=events.get(public(Prefix.TENANT, ctx.tenant.id), []),
        calendars=calendars,
        jobs=sorted(jobs, key=lambda job: (job.name, job.id)),
    )


async def _read_dropped(ctx: Context, day: date, archive: ArchiveTarget | None) -> ArchivedRange:
    """Read what PostgreSQL has dropped of a day. Refused if it is nowhere, or was changed: it proves nothing then."""
    since, until = range_of(day)
    dropped = await ctx.ask_each(partial(days.dropped_until, parents=[days.HISTORY]), whole=True)
    if not any(one is not None and since < one + ENDS_BEFORE for one in dropped):
        return NOTHING_ARCHIVED
    if archive is None:
        raise NoLongerKept(
            f"rows of {day} were dropped, it has no certificate yet, and no archive is configured: a day is certified "
            "before HORAE_HISTORY_DAYS have passed"
        )
    try:
        archived = await read_archive(ctx.store.cells, archive, since, until, ctx.tenant.id)
    except Invalid as error:
        raise NoLongerKept(f"rows of {day} were dropped, and are not in the archive") from error
    if archived.altered:
        jobs = ", ".join(sorted(public(Prefix.JOB, one) for one in archived.altered))
        raise Conflict(f"the archive of {day} was changed, so it proves nothing: {jobs}")
    return archived


async def _events(ctx: Context) -> Events:
    found: Events = defaultdict(list)
    read = await ctx.ask_each(lambda tx: evidence.events(tx, ctx.tenant.id, EVENT_ACTIONS), whole=True)
    for event in sorted(chain.from_iterable(read), key=lambda event: event.at):
        found[event.resource].append(event_of(event.at, event.action, event.detail))
    return found


async def _pages(ctx: Context, cell: CellProtocol, day: date) -> AsyncIterator[JobPage]:
    since, until = range_of(day)
    after = BEGINNING
    while True:
        async with cell.statement() as tx:
            jobs = await fires.jobs(tx, after, ctx.tenant.id, PAGE)
            if not jobs:
                return
            versions = await fires.versions(tx, jobs)
            backfills = await fires.backfills(tx, [job.id for job in jobs], since, until)
            calendars = await _calendars(tx, ctx.tenant.id, versions)
        after = (jobs[-1].shard, jobs[-1].id)
        yield JobPage(jobs, versions, backfills, calendars)


async def _calendars(tx: Tx, tenant_id: UUID, versions: dict[UUID, list[StoredVersion]]) -> dict[str, StoredCalendar]:
    uses = {
        (tenant_id, use["calendar"])
        for version in chain.from_iterable(versions.values())
        for use in (version.policies or {}).get("calendars", ())
    }
    return {name: found for (_, name), found in (await fires.calendars(tx, uses)).items()}


async def _rows(ctx: Context, ids: Sequence[UUID], day: date, archived: ArchivedRange) -> dict[UUID, list[EvidenceRow]]:
    """The rows of jobs from all cells and the archive: history stays where it was written when a shard moves."""
    since, until = range_of(day)
    found: defaultdict[UUID, list[EvidenceRow]] = defaultdict(list)
    for job_id in ids:
        found[job_id] += map(_archived_row, archived.columns(job_id, since, until))
    look = partial(evidence.rows, job_ids=ids, since=since, until=until, ended_since=since - ENDS_BEFORE)
    for here in await ctx.ask_each(look, whole=True):
        for job_id, rows in here.items():
            found[job_id] += rows
    return found


def _archived_row(row: Mapping[str, Any]) -> EvidenceRow:
    renamed = {"version": row["job_version"], "delay_ms": row["trigger_delay_ms"]}
    same = {name: row[name] for name in EvidenceRow.__struct_fields__ if name not in renamed}
    return EvidenceRow(**same, **renamed)


def _job_evidence(job: JobRow, page: JobPage, events: Events, rows: Sequence[EvidenceRow]) -> JobEvidence:
    return JobEvidence(
        id=job.id,
        name=job.name,
        status=job.status,
        cursor=job.cursor,
        cursor_version=job.cursor_version,
        may_be_withheld=bool(job.may_be_withheld),
        versions=sorted(page.versions.get(job.id, ()), key=lambda one: one.version),
        events=events.get(public(Prefix.JOB, job.id), ()),
        backfills=page.backfills.get(job.id, ()),
        rows=sorted(rows, key=lambda row: (row.fire_time, row.id)),
    )
