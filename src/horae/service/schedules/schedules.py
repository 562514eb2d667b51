"""Schedules: change a definition, skip or move one occurrence, preview."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from horae.domain.cron.describe import describe
from horae.domain.errors import Conflict, Contended, InvalidSchedule
from horae.domain.events.events import Event
from horae.domain.jobs.edges import After, marked
from horae.domain.jobs.jobs import Definition, Job, check_change, check_labels, check_limits
from horae.domain.schedules import (
    Override,
    Schedule,
    Verdict,
    check,
    check_policies,
    fires,
    first_wake,
    wake_after_change,
)
from horae.domain.schedules.overrides import check_count
from horae.domain.schedules.timers import cursor_of
from horae.domain.schedules.triggers import CronTrigger
from horae.domain.steps import Steps, finish
from horae.runtime.heavy import run_in_slices
from horae.runtime.randomness import new_id
from horae.security.envelopes import DataKey
from horae.service.context import Context
from horae.service.encryption.encryption import decrypt_job_or_mark, encrypt_definition, key_for
from horae.service.graphs import step_jobs
from horae.service.graphs.step_jobs import check_steps
from horae.service.identity import bound_keys
from horae.service.jobs import edges, jobs
from horae.service.jobs.changes import record_change
from horae.service.jobs.jobs import Days
from horae.service.limits import counts
from horae.service.limits.counts import CountRoom
from horae.service.schedules import calendars, owed_fires
from horae.service.targets.topics import check_target
from horae.store.jobs import jobs as rows
from horae.store.schedules import cursors
from horae.store.tx import Tx

PREVIEW_SEARCH_SPAN: Final = timedelta(days=5 * 366)
"""How far ahead a preview searches for fires."""


class Preview(msgspec.Struct, frozen=True):
    """A description of a schedule, and the verdicts about its next expected fires."""

    dialect: str | None
    english: str | None
    chinese: str | None
    verdicts: list[Verdict]


async def schedule_of(ctx: Context, job: Job) -> Schedule:
    """A job's schedule with the calendars it names."""
    return job.schedule(await calendars.by_names(ctx, job.calendars) if job.calendars else {})


async def preview(ctx: Context, job: Job, *, many: int = 5) -> Preview:
    """Returns the description in two languages, and what happens to the next expected fires."""
    schedule = await schedule_of(ctx, job)
    return await run_in_slices(preview_steps(schedule, ctx.now(job.shard), many=many))


def preview_of(schedule: Schedule, now: datetime, *, many: int = 5) -> Preview:
    """The same for a given schedule; nothing is read."""
    return finish(preview_steps(schedule, now, many=many))


def preview_steps(schedule: Schedule, now: datetime, *, many: int = 5) -> Steps[Preview]:
    """The same in steps, one fire at a time."""
    trigger = schedule.trigger
    first = first_wake(schedule, now)
    verdicts: list[Verdict] = []
    for verdict in fires(schedule, first, first + PREVIEW_SEARCH_SPAN) if first is not None else ():
        verdicts.append(verdict)
        if len(verdicts) == many:
            break
        yield
    if not isinstance(trigger, CronTrigger):
        return Preview(None, None, None, verdicts)
    cron = trigger.compiled()
    return Preview(trigger.dialect, describe(cron, "en"), describe(cron, "zh"), verdicts)


async def update(ctx: Context, name: str, definition: Definition, *, version: int | None = None) -> Job:
    """Write a new version of a job; the cursor follows it from now on. Refused if `version` is not the current one."""
    check_labels(definition.labels)
    bound_keys.check_labels(ctx, name, definition.labels)
    check_steps(ctx, name, definition)
    check_limits(definition)
    check_policies(definition.policies)
    check_target(ctx, definition)
    bounds = await counts.bounds_of(ctx)
    if definition.after is not None:
        await edges.check(ctx, name, definition, (await jobs.find(ctx, name)).definition)

    def change(job: Job) -> Definition:
        if version is not None and version != job.version:
            raise Conflict(f"job {name!r} is at version {job.version}, not {version}", version=job.version)
        check_change(job.definition, definition)
        counts.check_change(bounds, job, definition.trigger)
        return definition

    named = [rule.calendar for rule in definition.policies.calendars]
    room = await counts.room_for_job(ctx) if definition.is_graph else None
    return await _revise(ctx, name, change, Event.JOB_UPDATED, {}, await key_for(ctx, definition), named, room)


async def label(ctx: Context, name: str, labels: Mapping[str, str | None]) -> Job:
    """Set labels; None removes a label. This is a new version with the same schedule."""

    def change(job: Job) -> Definition:
        changed = {key: value for key, value in {**job.definition.labels, **labels}.items() if value is not None}
        check_labels(changed)
        bound_keys.check_labels(ctx, name, changed)
        return replace(job.definition, labels=changed)

    return await _revise(ctx, name, change, Event.JOB_UPDATED, {"labels": dict(labels)})


async def set_people(ctx: Context, name: str, changes: Mapping[str, Any]) -> Job:
    """Set some of the fields for people and alerts; None clears a field. Like labels, this is a new version."""
    wanted = {field: () if field == "contacts" and value is None else value for field, value in changes.items()}

    def change(job: Job) -> Definition:
        return replace(job.definition, **wanted)

    return await _revise(ctx, name, change, Event.JOB_UPDATED, {"people": wanted})


async def skip(ctx: Context, name: str, at: datetime) -> Job:
    """Skip the occurrence at `at`. It leaves a SKIPPED(REQUESTED) row."""
    return await _override(ctx, name, Override(at.astimezone(UTC)), "skip")


async def move(ctx: Context, name: str, at: datetime, to: datetime) -> Job:
    """Move the occurrence at `at` to `to`, between its neighbours. It keeps its fire time and idempotency key."""
    return await _override(ctx, name, Override(at.astimezone(UTC), to.astimezone(UTC)), "move")


async def restore(ctx: Context, name: str, at: datetime) -> Job:
    """Undo a skip or a move: the occurrence at `at` happens as scheduled."""
    return await _override(ctx, name, Override(at.astimezone(UTC)), "restore")


async def _override(ctx: Context, name: str, override: Override, verb: str) -> Job:
    def change(job: Job) -> Definition:
        now = ctx.now(job.shard)
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
    room: CountRoom | None = None,
) -> Job:
    """Write the next version of a job and move its cursor. `named` are the calendars that the change names.

    `room` is how many jobs there may be, for a graph that gets new steps.

    1. Compute and check the new definition, and write it as the next version.
    2. If the schedule changes and fires are due, the old schedule settles them first (`owed_fires.write_owed_fires`).
    3. Move the cursor to the next fire of the new version. If it moved since it was read, the change begins again.
    4. After the commit, wake nodes for the next fire, or at once where settled fires wait for a claim.
    """
    due: datetime | None = None
    owed: list[Verdict] = []
    former: After | None = None

    async def work(tx: Tx, job: Job, days: Days) -> Job:
        nonlocal due, former
        owed.clear()
        wanted = change(job)
        former = job.definition.after
        wanted = replace(wanted, after=marked(wanted.after, former, new_id(job.shard, tx.now), tx.now))
        definition = encrypt_definition(key, job.id, await step_jobs.revise(ctx, tx, job, wanted, key, room))
        revised = replace(job, definition=definition, version=job.version + 1, changed_at=tx.now)
        before, schedule = jobs.schedule_with(job, days), jobs.schedule_with(revised, days)
        if revised.recurring:
            check(schedule, tx.now)
        if await rows.revise(tx, job, definition, ctx.actor) is None:
            raise Contended(f"job {name!r} was changed meanwhile")
        paid = await owed_fires.write_owed_fires(tx, job, before, owed) if schedule != before else job
        # A due fire is still owed, so the cursor stays at it.
        stays = paid is job and (job.next_fire_at is None or job.next_fire_at <= tx.now)
        wake = (
            job.next_fire_at
            if stays or not job.recurring
            else wake_after_change(before, schedule, paid.next_fire_at, tx.now)
        )
        if job.recurring and not await cursors.revise(tx, paid, revised.version, wake, definition.priority):
            raise Contended(f"job {name!r} fired while it was being changed")
        revised = replace(revised, next_fire_at=wake)
        await record_change(ctx, tx, revised, event, {"version": revised.version, **detail})
        due = wake if paid is job else tx.now
        revised = replace(revised, definition=replace(definition, graph_plan=wanted.graph_plan))
        return await decrypt_job_or_mark(ctx, revised)

    done = await jobs.change(ctx, name, work, named=named)
    now = ctx.now(done.shard)
    ctx.store.cell(done.shard).level_counts.count_verdicts(cursor_of(done, now), owed, now)
    ctx.wakes.wake(done.shard, due)
    await edges.forget_former(ctx, former, done.definition.after)
    return done
