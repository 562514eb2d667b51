"""Jobs: create, pause, resume, remove, read. Each operation is one transaction in the job's shard."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from itertools import chain
from typing import Final, TypeVar

from msgspec.structs import replace

from horae.domain.errors import Conflict, Contended, HoraeError, Invalid, NewerRelease, NotFound, ShardClosed
from horae.domain.events.events import Event
from horae.domain.ids import Prefix, private, shard_in
from horae.domain.instances.outcomes import SkipReason
from horae.domain.jobs.edges import marked
from horae.domain.jobs.jobs import (
    Definition,
    Job,
    JobFilter,
    Status,
    check_labels,
    check_limits,
    check_name,
    check_status,
    new_job,
)
from horae.domain.schedules import (
    Schedule,
    SkipVerdict,
    Step,
    check,
    check_policies,
    first_wake,
    skip_until,
    triggers,
    wake_after_change,
)
from horae.domain.schedules.calendars import Calendar
from horae.domain.schedules.timers import cursor_of
from horae.domain.tasks.tasks import OWN_KEY, CreateDecision, Decision, Intent
from horae.domain.tenants.tenants import check_width
from horae.runtime.randomness import new_id
from horae.security.envelopes import DataKey
from horae.service.context import Context
from horae.service.encryption.encryption import (
    decrypt_job_or_mark,
    encrypt_definition,
    encrypt_intent,
    key_for,
)
from horae.service.graphs import step_jobs
from horae.service.graphs.step_jobs import check_steps, count_steps
from horae.service.identity import bound_keys
from horae.service.identity.bound_keys import check_job
from horae.service.jobs import edges
from horae.service.jobs.changes import record_change
from horae.service.limits import counts
from horae.service.schedules import calendars
from horae.service.targets.topics import check_target
from horae.service.tasks.new_instances import new_task_row
from horae.service.tenants.places import retry_if_widened, shard_of_job
from horae.store.graphs import runs
from horae.store.graphs import step_jobs as step_rows
from horae.store.instances import instances
from horae.store.jobs import jobs
from horae.store.schedules import cursors
from horae.store.tasks import tasks
from horae.store.tx import Tx

Result = TypeVar("Result")
Days = Mapping[str, Calendar]
TRIES: Final = 20
"""How often a change begins again because the job changed at the same time."""


async def create(ctx: Context, name: str, definition: Definition, *, paused: bool = False) -> Job:
    """Create a job with its cursor or its one instance. A `paused` one fires nothing until it is resumed."""
    check_name(name)
    check_labels(definition.labels)
    bound_keys.check_labels(ctx, name, definition.labels)
    check_steps(ctx, name, definition)
    check_limits(definition)
    check_policies(definition.policies)
    check_target(ctx, definition)
    if definition.width is not None:
        check_width(definition.width)
    await edges.check(ctx, name, definition)
    return await retry_if_widened(ctx, lambda ctx: _create(ctx, name, definition, paused=paused))


async def _create(ctx: Context, name: str, definition: Definition, *, paused: bool) -> Job:
    shard = await shard_of_job(ctx, name)
    known = await calendars.by_names(ctx, [rule.calendar for rule in definition.policies.calendars])
    key = await key_for(ctx, definition)
    room, steps = await counts.room_for_job(ctx), count_steps(definition)

    async def work(tx: Tx) -> Job:
        room.check(1 + steps)
        room.bounds.check_period(definition.trigger)
        after = marked(definition.after, None, new_id(shard, tx.now), tx.now)
        job = new_job(new_id(shard, tx.now), ctx.tenant.id, name, replace(definition, after=after))
        job = replace(job, next_fire_at=first_fire(job, known, tx.now), changed_at=tx.now)
        compiled = await step_jobs.create(ctx, tx, job, key)
        kept = replace(job, definition=encrypt_definition(key, job.id, compiled))
        if not await jobs.create(tx, kept, ctx.actor, len(ctx.tenant.former)):
            raise ShardClosed(f"the shard of job {name!r} is moving; nothing was changed")
        if job.recurring:
            await cursors.create(tx, job, job.next_fire_at)
        elif job.single:
            await _create_single(ctx, tx, job, key)
        if paused:
            held = await _pause_cursor(tx, job)
            job, kept = held, replace(held, definition=kept.definition)
        rows: dict[str, object] = {"definition": kept.definition} | ({"paused": True} if paused else {})
        await record_change(ctx, tx, kept, Event.JOB_CREATED, rows)
        return job

    created = await ctx.store.run(shard, work)
    counts.count_jobs(ctx, 1 + steps)
    ctx.wakes.wake(shard, created.next_fire_at)
    return created


async def change(
    ctx: Context,
    name: str,
    work: Callable[[Tx, Job, Days], Awaitable[Result]],
    *,
    named: Sequence[str] = (),
    unreadable: bool = False,
) -> Result:
    """Change a job in one transaction, with the calendars that the job and the change name.

    `unreadable` is for changes that need no definition: then a job that only a newer release can read has placeholders.

    1. Read the job and its calendars before the transaction begins.
    2. In the transaction, lock the cursor, then read the job again. Nodes lock in the same order at the last fire of a
       job.
    3. Begin again, at most `TRIES` times, where the job was replaced or names other calendars by then.
    """

    async def inside(tx: Tx) -> Result:
        await cursors.seize(tx, found)
        job = await find_in(ctx, tx, name, unreadable=unreadable)
        if job.id != found.id or not asked.issuperset(job.calendars):
            raise Contended(f"job {name!r} was changed meanwhile")
        return await work(tx, job, days)

    for _ in range(TRIES):
        found = await find(ctx, name, unreadable=unreadable)
        asked = {*named, *found.calendars}
        days = await calendars.by_names(ctx, sorted(asked))
        with suppress(Contended):
            return await ctx.store.run(await shard_of_job(ctx, name), inside)
    raise Contended(f"job {name!r} kept changing; nothing was changed, ask again")


def schedule_with(job: Job, days: Days) -> Schedule:
    """Returns a job's schedule with its calendars, as far as `days` has them."""
    return job.schedule({name: days[name] for name in job.calendars if name in days})


async def find(ctx: Context, name: str, *, unreadable: bool = False) -> Job:
    """Returns the job of that name that is not removed.

    `unreadable`: a job that only a newer release can read has placeholders. Otherwise it raises.
    """
    async with ctx.store.statement(await shard_of_job(ctx, name)) as tx:
        return await find_in(ctx, tx, name, unreadable=unreadable)


async def find_by_ref(ctx: Context, ref: str, *, removed: bool = False, unreadable: bool = False) -> Job:
    """Returns the job of a public id or a name. `removed` also finds a removed job, so that its history can be read.

    `unreadable` as in `find`.
    """
    async with read_by_ref(ctx, ref, removed=removed, unreadable=unreadable) as (_, job):
        return job


@asynccontextmanager
async def read_by_ref(
    ctx: Context, ref: str, *, removed: bool = False, unreadable: bool = False
) -> AsyncIterator[tuple[Tx, Job]]:
    """Like `find_by_ref`; yields the transaction that found the job, too, for further reads in the job's cell."""
    try:
        id_ = private(Prefix.JOB, ref)
    except NotFound:
        async with ctx.store.statement(await shard_of_job(ctx, ref)) as tx:
            yield tx, await find_in(ctx, tx, ref, unreadable=unreadable)
        return
    async with ctx.store.statement(shard_in(id_)) as tx:
        job = await jobs.by_id(tx, ctx.tenant.id, id_, unreadable=unreadable)
        if job is None or (job.status == Status.REMOVED and not removed):
            raise NotFound(f"tenant {ctx.tenant.name!r} has no job {ref!r}")
        yield tx, check_job(ctx, job)


async def page(
    ctx: Context,
    wanted: JobFilter,
    *,
    after: str = "",
    limit: int = 50,
    whole: bool = True,
    unreadable: bool = False,
) -> list[Job]:
    """Returns the wanted jobs of all cells by name. The next page is `after` the name of the last one.

    `whole=False` is for display only. A caller that decides by the list must not miss the jobs of a cell that is down.
    `unreadable` as in `find`: a caller that decides by definitions must not take placeholders for them.
    """
    wanted = bound_keys.narrow(ctx, wanted)

    async def ask(tx: Tx) -> list[Job]:
        if wanted.calendar is not None:
            return await jobs.page_of_calendar(
                tx, ctx.tenant.id, wanted.calendar, wanted, after, limit, unreadable=unreadable
            )
        if wanted.owner is not None:
            return await jobs.page_of_owner(
                tx, ctx.tenant.id, wanted.owner, wanted, after, limit, unreadable=unreadable
            )
        return await jobs.page(tx, ctx.tenant.id, wanted, after, limit, unreadable=unreadable)

    found = await ctx.ask_each(ask, whole=whole)
    return sorted(chain.from_iterable(found), key=lambda job: job.name)[:limit]


async def listing(ctx: Context) -> list[Job]:
    """Returns all jobs of the tenant that are not removed, by name, from the cells that answer.

    A job that only a newer release can read has placeholders.
    """
    bound_keys.check_not_bound(ctx, "list all jobs at once")
    found = await ctx.ask_each(lambda tx: jobs.listing(tx, ctx.tenant.id, unreadable=True))
    return sorted(chain.from_iterable(found), key=lambda job: job.name)


async def pause(ctx: Context, name: str) -> Job:
    """Stop fires and claims of a job; running attempts may finish."""

    async def work(tx: Tx, job: Job, _days: Days) -> Job:
        check_status(job, Status.ACTIVE, "paused")
        paused = await _pause_cursor(tx, job)
        await record_change(ctx, tx, paused, Event.JOB_PAUSED, {"held_from": await jobs.held_from(tx, paused)})
        return await decrypt_job_or_mark(ctx, paused)

    return await change(ctx, name, work, unreadable=True)


async def resume(ctx: Context, name: str) -> Job:
    """Continue from now. The fires that passed leave one SKIPPED(PAUSED) row for their whole range."""

    async def work(tx: Tx, job: Job, days: Days) -> Job:
        check_status(job, Status.PAUSED, "resumed")
        await cursors.seize(tx, job)  # the cursor before the job, the lock order of nodes
        held_from = await jobs.held_from(tx, job)
        await _set_status(tx, job, Status.ACTIVE)
        next_fire_at = (
            await _resume_cursor(tx, job, schedule_with(job, days), held_from) if held_from is not None else None
        )
        over = held_from is not None and next_fire_at is None
        if over:  # its last fires passed during the pause
            await jobs.complete(tx, [job.shard], [job.id])
        status = Status.COMPLETED if over else Status.ACTIVE
        resumed = replace(job, status=status, next_fire_at=next_fire_at, changed_at=tx.now)
        await record_change(ctx, tx, resumed, Event.JOB_RESUMED, {"held_from": held_from, "next": next_fire_at})
        return await decrypt_job_or_mark(ctx, resumed)

    resumed = await change(ctx, name, work)
    ctx.wakes.wake(resumed.shard, resumed.next_fire_at or ctx.now(resumed.shard))
    return resumed


async def remove(ctx: Context, name: str) -> Job:
    """Stop all fires and claims for good.

    Instances that wait in the job's shard are cancelled now, tasks of a type when they become due. Fires that are due
    and were not fired leave one SKIPPED row for their whole range.
    """
    found = await find(ctx, name, unreadable=True)
    known = await calendars.by_names(ctx, found.calendars)

    async def work(tx: Tx) -> Job:
        await cursors.seize(tx, found)  # before the job, the lock order of nodes
        job = await find_in(ctx, tx, name, unreadable=True)
        if job.is_step:
            raise Invalid("a step is removed with its graph, or left out of the next version of it")
        held_from = await jobs.held_from(tx, job)
        await _set_status(tx, job, Status.REMOVED)
        await _record_owed_fires(tx, job, held_from, known)
        await cursors.remove(tx, job)
        cancelled = await instances.cancel_waiting(tx, job.shard, job.id)
        if job.definition.graph is not None:
            await runs.cancel_of_job(tx, job.shard, job.id)
            graph = job.definition.graph
            ids = [step.job_id for step in (*graph.former, *graph.steps)]
            await step_rows.remove(tx, job.shard, job.id, ids)
        removed = replace(job, status=Status.REMOVED, next_fire_at=None, changed_at=tx.now)
        await record_change(ctx, tx, removed, Event.JOB_REMOVED, {"cancelled": len(cancelled)})
        return await decrypt_job_or_mark(ctx, removed)

    removed = await ctx.store.run(await shard_of_job(ctx, name), work)
    await edges.forget_former(ctx, removed.definition.after, None)
    return removed


async def _record_owed_fires(tx: Tx, job: Job, held_from: datetime | None, known: dict[str, Calendar]) -> None:
    """Write a SKIPPED row for the due fires of a removed job: it was paused, or no node has fired them yet."""
    stood = job.next_fire_at if held_from is None else held_from
    if not (job.recurring or job.is_unreadable) or stood is None or stood > tx.now:
        return
    reason = SkipReason.REMOVED if held_from is None else SkipReason.PAUSED
    try:
        if job.is_unreadable:
            raise NewerRelease
        schedule = job.schedule(known)
        owed = [one for one in skip_until(schedule, stood, tx.now, reason).verdicts if isinstance(one, SkipVerdict)]
    except HoraeError:  # written by a newer release: only that one can count the fires
        owed = [SkipVerdict(stood, tx.now, 1, reason)]
    if held_from is not None:
        await cursors.resume(tx, job, held_from)
    for verdict in owed:
        row = cursors.skip_row(cursor_of(job, stood), verdict, None, tx.now)
        if not await cursors.skip(tx, job.definition.priority, [row]) and not job.is_unreadable:
            raise Conflict(f"job {job.name!r} fired while it was being removed; ask again")


def first_fire(job: Job, known: dict[str, Calendar], now: datetime) -> datetime | None:
    """Returns the first fire of a new job; None if it is fired by hand only."""
    if job.single:
        return triggers.single_fire(job.definition.trigger, now)
    if not job.recurring:
        return None
    schedule = job.schedule(known)
    check(schedule, now)
    return first_wake(schedule, now)


async def _create_single(ctx: Context, tx: Tx, job: Job, key: DataKey | None) -> None:
    assert job.next_fire_at is not None
    place = tasks.TaskPlace(job.shard, job.tenant_id, job.id, OWN_KEY)
    change = CreateDecision(after=0, at=job.next_fire_at)
    note = tasks.note_of(Decision.CREATED, change, ctx.actor, tx.now)
    new_row = new_task_row(job, place, 1, tx.now)
    intent = encrypt_intent(key, job.id, new_row.idem_key, Intent(job.next_fire_at, job.definition.payload))
    await tasks.create(tx, place, change, intent, new_row, note, len(ctx.tenant.former))


async def find_in(ctx: Context, tx: Tx, name: str, *, unreadable: bool = False) -> Job:
    """Returns the job of that name that is not removed, inside the caller's transaction. `unreadable` as in `find`."""
    for placement in ctx.tenant.placements:
        shard = placement.shard(shard_in(ctx.tenant.id), name)
        job = await jobs.find(tx, shard, ctx.tenant.id, name, unreadable=unreadable)
        if job is not None:
            return check_job(ctx, job)
    raise NotFound(f"tenant {ctx.tenant.name!r} has no job {name!r}")


async def _pause_cursor(tx: Tx, job: Job) -> Job:
    """Stop the job's cursor and set its status to PAUSED. The job remembers the fire that the cursor was at."""
    held_from = await cursors.hold(tx, job) if job.recurring or job.is_unreadable else None
    await _set_status(tx, job, Status.PAUSED, held_from=held_from)
    return replace(job, status=Status.PAUSED, next_fire_at=None, changed_at=tx.now)


async def _set_status(tx: Tx, job: Job, status: Status, *, held_from: datetime | None = None) -> None:
    if not await jobs.set_status(tx, job, status, held_from=held_from):
        raise Contended(f"job {job.name!r} changed while it was being {status.lower()}; ask again")


async def _resume_cursor(tx: Tx, job: Job, schedule: Schedule, held_from: datetime) -> datetime | None:
    """Move the cursor of a resumed job to its next fire, and return that. Fires that passed leave one SKIPPED row.

    1. If the held fire is still to come, the cursor goes to the first fire of the current schedule from now on.
    2. Otherwise the cursor is restored at the held fire, and the skip moves it from there over all fires that passed.
    3. The schedule may have changed during the pause. Fires that it no longer has are neither skipped nor fired.
    """
    stood = held_from if held_from <= tx.now else wake_after_change(schedule, schedule, held_from, tx.now)
    wake, rows = stood, []
    if stood is not None and stood <= tx.now:
        step = skip_until(schedule, stood, tx.now, SkipReason.PAUSED)
        wake, rows = step.wake, _skip_rows(tx, job, stood, step)
    moved = await cursors.resume(tx, job, stood if rows else wake)
    if rows:
        moved = moved and bool(await cursors.skip(tx, job.definition.priority, rows))
    if not moved:
        raise Contended(f"job {job.name!r} was changed while it was being resumed")
    return wake


def _skip_rows(tx: Tx, job: Job, stood: datetime, step: Step) -> list[cursors.SkipRow]:
    """Returns the SKIPPED rows for the fires that a cursor passes; there is at most one."""
    at = cursor_of(job, stood)
    return [cursors.skip_row(at, one, step.wake, tx.now) for one in step.verdicts if isinstance(one, SkipVerdict)]
