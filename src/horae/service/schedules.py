"""Schedules: change a definition, skip or move one occurrence, preview."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from msgspec.structs import replace

from horae.domain.cron.describe import describe
from horae.domain.errors import Conflict, Contended, InvalidSchedule
from horae.domain.events import Event
from horae.domain.jobs import Definition, Job, check_change, check_labels, check_limits
from horae.domain.schedule import Override, Schedule, Verdict, check, check_policies, fires, first_wake
from horae.domain.schedule.overrides import check_count
from horae.domain.steps import Steps, finish
from horae.domain.triggers import CronTrigger
from horae.runtime.heavy import run_in_slices
from horae.security.envelopes import DataKey
from horae.service import calendars, counts, debts, jobs
from horae.service.changes import tell
from horae.service.context import Context
from horae.service.jobs import Days
from horae.service.sealing import closed, key_for, shown_or_not
from horae.service.topics import check_target
from horae.store import cursors
from horae.store import jobs as rows
from horae.store.tx import Tx

LOOK_AHEAD: Final = timedelta(days=5 * 366)


class Preview(msgspec.Struct, frozen=True):
    """What a schedule will do, said before it does it."""

    dialect: str | None
    english: str | None
    chinese: str | None
    verdicts: list[Verdict]


async def schedule_of(ctx: Context, job: Job) -> Schedule:
    """A job's schedule with the calendars it names."""
    return job.schedule(await calendars.known(ctx, job.calendars) if job.calendars else {})


async def preview(ctx: Context, job: Job, *, many: int = 5) -> Preview:
    """The sentence in two languages, and what becomes of the next expected fires."""
    schedule = await schedule_of(ctx, job)
    return await run_in_slices(foretell_steps(schedule, ctx.store.cell(job.shard).clock.now(), many=many))


def foretell(schedule: Schedule, now: datetime, *, many: int = 5) -> Preview:
    """The same for a schedule at hand: nothing is asked for."""
    return finish(foretell_steps(schedule, now, many=many))


def foretell_steps(schedule: Schedule, now: datetime, *, many: int = 5) -> Steps[Preview]:
    """The same, a fire at a time."""
    trigger = schedule.trigger
    first = first_wake(schedule, now)
    verdicts: list[Verdict] = []
    for verdict in fires(schedule, first, first + LOOK_AHEAD) if first is not None else ():
        verdicts.append(verdict)
        if len(verdicts) == many:
            break
        yield
    if not isinstance(trigger, CronTrigger):
        return Preview(None, None, None, verdicts)
    cron = trigger.compiled()
    return Preview(trigger.dialect, describe(cron, "en"), describe(cron, "zh"), verdicts)


async def update(ctx: Context, name: str, definition: Definition, *, version: int | None = None) -> Job:
    """A new version of a job; the cursor goes on by it from now. Refused when `version` is not the one it is at."""
    check_labels(definition.labels)
    check_limits(definition)
    check_policies(definition.policies)
    check_target(ctx, definition)
    bounds = await counts.bounds_of(ctx)

    def change(job: Job) -> Definition:
        if version is not None and version != job.version:
            raise Conflict(f"job {name!r} is at version {job.version}, not {version}", version=job.version)
        check_change(job.definition, definition)
        counts.check_change(bounds, job, definition.trigger)
        return definition

    named = [rule.calendar for rule in definition.policies.calendars]
    return await _revise(ctx, name, change, Event.JOB_UPDATED, {}, await key_for(ctx, definition), named)


async def label(ctx: Context, name: str, labels: Mapping[str, str | None]) -> Job:
    """Set labels, or take those away whose value is None; a new version whose schedule is the same."""

    def change(job: Job) -> Definition:
        changed = {key: value for key, value in {**job.definition.labels, **labels}.items() if value is not None}
        check_labels(changed)
        return replace(job.definition, labels=changed)

    return await _revise(ctx, name, change, Event.JOB_UPDATED, {"labels": dict(labels)})


async def skip(ctx: Context, name: str, at: datetime) -> Job:
    """The occurrence at `at` does not happen; it leaves a row that says who asked for it."""
    return await _override(ctx, name, Override(at.astimezone(UTC)), "skip")


async def move(ctx: Context, name: str, at: datetime, to: datetime) -> Job:
    """The occurrence at `at` happens at `to`, between its neighbours, and keeps its fire time and key."""
    return await _override(ctx, name, Override(at.astimezone(UTC), to.astimezone(UTC)), "move")


async def restore(ctx: Context, name: str, at: datetime) -> Job:
    """The occurrence at `at` happens as the schedule has it."""
    return await _override(ctx, name, Override(at.astimezone(UTC)), "restore")


async def _override(ctx: Context, name: str, override: Override, verb: str) -> Job:
    def change(job: Job) -> Definition:
        now = ctx.store.cell(job.shard).clock.now()
        if override.at <= now or (override.to is not None and override.to <= now):
            raise InvalidSchedule(
                "only an occurrence that is still to come can be skipped or moved, and only ahead of now"
            )
        kept = [one for one in job.definition.overrides if one.at != override.at and one.at > now]
        changed = kept if verb == "restore" else [*kept, override]
        if len(changed) > len(job.definition.overrides):
            check_count(changed)
        return replace(job.definition, overrides=tuple(sorted(changed, key=lambda one: one.at)))

    return await _revise(ctx, name, change, Event.JOB_UPDATED, {verb: override.at, "to": override.to})


async def _revise(
    ctx: Context,
    name: str,
    change: Callable[[Job], Definition],
    event: Event,
    detail: dict[str, object],
    key: DataKey | None = None,
    named: Sequence[str] = (),
) -> Job:
    """Write the next version of a job. `named`: calendars that the change names beside those of the job as it is."""
    due: datetime | None = None

    async def work(tx: Tx, job: Job, days: Days) -> Job:
        nonlocal due
        definition = closed(key, job.id, change(job))
        revised = replace(job, definition=definition, version=job.version + 1)
        before, schedule = jobs.planned(job, days), jobs.planned(revised, days)
        if revised.recurring:
            check(schedule, tx.now)
        if await rows.revise(tx, job, definition, ctx.actor) is None:
            raise Contended(f"job {name!r} was changed meanwhile")
        paid = await debts.settle(tx, job, before) if schedule != before else job
        wake = _wake(job, revised, schedule, tx.now) if paid is job else first_wake(schedule, tx.now)
        if job.recurring and not await cursors.revise(tx, paid, revised.version, wake, definition.priority):
            raise Contended(f"job {name!r} fired while it was being changed")
        revised = replace(revised, next_fire_at=wake)
        await tell(ctx, tx, revised, event, {"version": revised.version, **detail})
        due = wake if paid is job else tx.now
        return await shown_or_not(ctx, revised)

    done = await jobs.change(ctx, name, work, named=named)
    ctx.wakes.wake(done.shard, due)
    return done


def _wake(job: Job, revised: Job, schedule: Schedule, now: datetime) -> datetime | None:
    """Where the cursor goes. A fire that has come due already is still owed: the cursor stays at it."""
    if not revised.recurring or job.next_fire_at is None or job.next_fire_at <= now:
        return job.next_fire_at
    return first_wake(schedule, now)
