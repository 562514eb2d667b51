"""Findings about one fire of a recurring job: which fire is meant, and what became of it.

Two things are read, the schedule that was in force and the rows of the fire. The rows decide; the schedule explains why
there is none.
"""

from datetime import datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from horae.domain.errors import Invalid, NoLongerKept
from horae.domain.explanations.findings import DecidingRow, Finding, FindingCode, RowKind
from horae.domain.explanations.fire_times import MeantFire, asked_time, meant_fire
from horae.domain.ids import creation_time
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import SkipReason
from horae.domain.instances.searches import InstanceFilter
from horae.domain.jobs.jobs import LAST_VERSION, Job, Status
from horae.domain.schedules import FireVerdict, Schedule, SkipVerdict, Verdict, expected, fires
from horae.domain.schedules.calendars import allows
from horae.service.context import Context
from horae.service.explanations.instance_findings import find_of_instance
from horae.service.explanations.job_findings import dates_finding, skip_finding
from horae.service.explanations.rows import job_row, version_row
from horae.service.instances import searches, tiers
from horae.service.schedules.schedules import schedule_of
from horae.store.instances.history import Bounds, InstanceRecord
from horae.store.jobs import versions
from horae.store.jobs.versions import Version

MAX_ROWS: Final = 5
"""Rows of one fire that are explained: its own, backfills and replays."""
MAX_RANGES: Final = 3
"""Rows of skipped fires before a time that may stand for it."""
MAX_SCANNED: Final = 300
"""Rows that are searched for a range of skipped fires."""
MAX_VERSIONS: Final = 100
"""The newest versions among which the one in force is searched."""
BY_CALENDAR: Final = frozenset({SkipReason.CALENDAR, SkipReason.CALENDAR_UNKNOWN})


class FireInQuestion(NamedTuple):
    """A fire, the version of its job that was in force then, and that version's verdict about it."""

    job: Job
    in_force: Job
    since: datetime | None
    schedule: Schedule
    meant: MeantFire
    at: datetime
    verdict: Verdict | None


async def find_of_fire(ctx: Context, job: Job, text: str) -> tuple[datetime, list[Finding]]:
    """Returns the time of the fire that a text such as `02:00` means, and the findings about it.

    1. A time before the job has no fire.
    2. The version that was in force then says which fire is meant: the one at that time, or the nearest one.
    3. Its rows say what became of it. Without a row, the schedule and the cursor say why there is none.
    """
    if not job.recurring:
        raise Invalid(
            f"job {job.name!r} has no schedule of its own: ask for one of its keys or instances, without a time"
        )
    now = ctx.now(job.shard)
    asked = asked_time(text, expected.zone_of(job.definition.trigger), now)
    created_at = creation_time(job.id)
    if asked < created_at:
        facts = {"job": job.name, "created_at": created_at, "fire_time": asked}
        return asked, [Finding(FindingCode.BEFORE_CREATION, facts, (job_row(job),))]
    fire = await _fire_in_question(ctx, job, asked)
    if fire is None:
        return asked, [_not_a_fire(job, MeantFire(asked, None, is_exact=False))]
    rows = await _rows(ctx, job, fire.at)
    found = [] if fire.meant.is_exact else [_not_a_fire(fire.in_force, fire.meant)]
    found += _version_findings(fire) + _move_findings(fire)
    if rows is None:
        found.append(Finding(FindingCode.NO_LONGER_KEPT, {"fire_time": fire.at}, (job_row(job),)))
    elif rows:
        for past in rows:
            found += await _row_findings(ctx, fire, past)
    else:
        found += _without_row(fire, now)
    return fire.at, found


async def _fire_in_question(ctx: Context, job: Job, asked: datetime) -> FireInQuestion | None:
    """Returns the fire that is meant; None where the schedule has no fire at all."""
    version, until = await _version_at(ctx, job, asked)
    since = None if version is None else version.created_at
    in_force = await _load(ctx, job, version)
    schedule = await schedule_of(ctx, in_force)
    meant = meant_fire(schedule, asked, since, until)
    if meant.at is None:
        return None
    verdict = next(iter(fires(schedule, meant.at, meant.at + expected.TIME_RESOLUTION)), None)
    return FireInQuestion(job, in_force, since, schedule, meant, meant.at, verdict)


async def _version_at(ctx: Context, job: Job, at: datetime) -> tuple[Version | None, datetime | None]:
    """Returns the version that was in force at a time, and until when; None: it is not among the newest ones."""
    async with ctx.store.statement(job.shard) as tx:
        newest = await versions.listing(tx, job, LAST_VERSION, MAX_VERSIONS)
    until = None
    for version in newest:
        if version.created_at < at:
            return version, until
        until = version.created_at
    return None, None


async def _load(ctx: Context, job: Job, version: Version | None) -> Job:
    """Returns the job at a version. Where that version cannot be read, the current one has to do."""
    if version is None or version.version == job.version:
        return job
    place = (job.shard, job.id, version.version)
    known = await ctx.definitions.load_from(ctx.store.cell(job.shard), [place])
    return known.get((job.id, version.version), job)


async def _rows(ctx: Context, job: Job, at: datetime) -> list[InstanceRecord] | None:
    """Returns the rows of a fire, oldest first, and the row of a range that it is in; None: they are dropped."""
    end = at + expected.TIME_RESOLUTION
    sought = InstanceFilter(since=at, until=end)
    try:
        found = (await searches.of_job(ctx, job, sought, bounds=Bounds(MAX_ROWS))).found
        before = InstanceFilter(states=(State.SKIPPED,), until=at)
        ranges = (await searches.of_job(ctx, job, before, bounds=Bounds(MAX_RANGES, MAX_SCANNED))).found
        found += [past for past in ranges if past.range_to is not None and past.range_to >= at]
        if not found and ctx.memory.archive is not None:
            archived = await tiers.of_job_ref(ctx, job_row(job).ref, sought, bounds=Bounds(MAX_ROWS))
            found = archived.found
    except NoLongerKept:
        return None
    return sorted(found, key=lambda past: past.id)


async def _row_findings(ctx: Context, fire: FireInQuestion, past: InstanceRecord) -> list[Finding]:
    if past.state == State.SKIPPED:
        return [name_calendars(skip_finding(past), past, fire.schedule)]
    whole = (await tiers.find(ctx, past.id)).found
    return await find_of_instance(ctx, fire.job, whole)


def name_calendars(found: Finding, past: InstanceRecord, schedule: Schedule) -> Finding:
    """Returns the finding about a skipped fire with the calendars that closed its day, where one did."""
    closed = closing_calendars(schedule, past.fire_time) if past.reason in BY_CALENDAR else []
    if not closed:
        return found
    rows = (*found.rows, *(DecidingRow(RowKind.CALENDAR, name) for name in closed))
    return Finding(found.code, found.facts | {"calendars": closed}, rows)


def _version_findings(fire: FireInQuestion) -> list[Finding]:
    job, in_force = fire.job, fire.in_force
    if in_force.version == job.version or fire.since is None:
        return []
    facts = {"job": job.name, "version": in_force.version, "since": fire.since, "current": job.version}
    return [Finding(FindingCode.EARLIER_VERSION, facts, (version_row(job, in_force.version),))]


def _move_findings(fire: FireInQuestion) -> list[Finding]:
    """Returns why a fire is due at another time than its own: somebody moved it, or the job spreads its fires."""
    verdict, rows = fire.verdict, (version_row(fire.job, fire.in_force.version),)
    if not isinstance(verdict, FireVerdict) or verdict.due_at == verdict.fire_time:
        return []
    if any(one.at == fire.at for one in fire.schedule.overrides):
        return [Finding(FindingCode.MOVED, {"fire_time": fire.at, "to": verdict.due_at}, rows)]
    delay_s = (verdict.due_at - verdict.fire_time).total_seconds()
    facts = {"job": fire.job.name, "fire_time": fire.at, "due_at": verdict.due_at, "delay_s": delay_s}
    return [Finding(FindingCode.SPREAD, facts, rows)]


def _without_row(fire: FireInQuestion, now: datetime) -> list[Finding]:
    """Returns why a fire has no row: the cursor has not reached it, the schedule is not in force, or it is missing."""
    job, at = fire.job, fire.at
    outside = dates_finding(fire.in_force, at)
    if outside is not None or fire.verdict is None:
        return [] if outside is None else [outside]
    due_at = fire.verdict.due_at if isinstance(fire.verdict, FireVerdict) else at
    if min(at, due_at) > now:
        return [_to_come(fire)]
    if job.status != Status.ACTIVE:
        return []  # the status is explained beside it
    if job.next_fire_at is None or job.next_fire_at <= now:
        return []  # the cursor is behind, which is explained beside it
    return [Finding(FindingCode.MISSING, {"job": job.name, "fire_time": at}, (job_row(job),))]


def _to_come(fire: FireInQuestion) -> Finding:
    verdict, rows = fire.verdict, (version_row(fire.job, fire.in_force.version),)
    if isinstance(verdict, SkipVerdict):
        closed = closing_calendars(fire.schedule, fire.at) if verdict.reason in BY_CALENDAR else []
        facts = {"fire_time": fire.at, "reason": verdict.reason.value, "calendars": closed or None}
        return Finding(
            FindingCode.TO_BE_SKIPPED, facts, (*rows, *(DecidingRow(RowKind.CALENDAR, name) for name in closed))
        )
    due_at = fire.at if verdict is None else verdict.due_at
    return Finding(FindingCode.TO_COME, {"fire_time": fire.at, "due_at": due_at}, rows)


def closing_calendars(schedule: Schedule, at: datetime) -> list[str]:
    """Returns the calendars that do not let a job fire on the day of a fire, as they are now."""
    day = at.astimezone(expected.zone_of(schedule.trigger)).date()
    uses = schedule.policies.calendars
    return [use.calendar for use in uses if allows([use], schedule.calendars, day) is not True]


def _not_a_fire(job: Job, meant: MeantFire) -> Finding:
    here = expected.zone_of(job.definition.trigger)
    facts = {
        "job": job.name,
        "asked": _local(meant.asked, here),
        "zone": str(here),
        "nearest": None if meant.at is None else _local(meant.at, here),
    }
    return Finding(FindingCode.NOT_A_FIRE, facts, (version_row(job, job.version),))


def _local(at: datetime, here: ZoneInfo) -> str:
    return f"{at.astimezone(here):%Y-%m-%d %H:%M:%S}"
