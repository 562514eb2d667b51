"""Jobs: create, pause, resume, remove, read. Each verb is one transaction in the job's shard."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain
from typing import Final, TypeVar

from msgspec.structs import replace

from horae.domain import triggers
from horae.domain.calendars import Calendar
from horae.domain.errors import Conflict, Contended, HoraeError, NotFound, ShardClosed
from horae.domain.events import Event
from horae.domain.ids import Prefix, private, shard_in
from horae.domain.jobs import Definition, Job, Status, Wanted, check_labels, check_limits, check_name, check_status
from horae.domain.outcomes import SkipReason
from horae.domain.schedule import Schedule, Skip, Step, check, check_policies, first_wake, passed
from horae.domain.tasks import OWN_KEY, Create, Decision, Intent
from horae.domain.tenants import check_width
from horae.domain.timers import cursor_of
from horae.runtime.chance import mint
from horae.security.envelopes import DataKey
from horae.service import calendars, counts
from horae.service.births import birth_of
from horae.service.changes import tell
from horae.service.context import Context
from horae.service.places import insisting, shard_of_job
from horae.service.sealing import closed, key_for, sealed_intent, shown_or_not
from horae.service.topics import check_target
from horae.store import cursors, instances, jobs, tasks
from horae.store.tx import Tx

Result = TypeVar("Result")
Days = Mapping[str, Calendar]
TRIES: Final = 20


async def create(ctx: Context, name: str, definition: Definition, *, paused: bool = False) -> Job:
    """A new job, with its cursor or its one instance. `paused`: it fires nothing before it is resumed."""
    check_name(name)
    check_labels(definition.labels)
    check_limits(definition)
    check_policies(definition.policies)
    check_target(ctx, definition)
    if definition.width is not None:
        check_width(definition.width)
    return await insisting(ctx, lambda ctx: _create(ctx, name, definition, paused=paused))


async def _create(ctx: Context, name: str, definition: Definition, *, paused: bool) -> Job:
    shard = await shard_of_job(ctx, name)
    known = await calendars.known(ctx, [rule.calendar for rule in definition.policies.calendars])
    key = await key_for(ctx, definition)
    room = await counts.room_for_job(ctx)

    async def work(tx: Tx) -> Job:
        room.check()
        room.bounds.check_period(definition.trigger)
        job = Job(
            shard=shard,
            id=mint(shard, tx.now),
            tenant_id=ctx.tenant.id,
            name=name,
            version=1,
            status=Status.ACTIVE,
            definition=definition,
        )
        job = replace(job, next_fire_at=_first_fire(job, known, tx.now))
        kept = replace(job, definition=closed(key, job.id, definition))
        if not await jobs.create(tx, kept, ctx.actor, len(ctx.tenant.former)):
            raise ShardClosed(f"the shard of job {name!r} is moving; nothing was changed")
        if job.recurring:
            await cursors.create(tx, job, job.next_fire_at)
        elif job.single:
            await _create_single(ctx, tx, job, key)
        if paused:
            held = await _held(tx, job)
            job, kept = held, replace(held, definition=kept.definition)
        told: dict[str, object] = {"definition": kept.definition} | ({"paused": True} if paused else {})
        await tell(ctx, tx, kept, Event.JOB_CREATED, told)
        return job

    created = await ctx.store.run(shard, work)
    counts.count_job(ctx)
    ctx.wakes.wake(shard, created.next_fire_at)
    return created


async def change(
    ctx: Context, name: str, work: Callable[[Tx, Job, Days], Awaitable[Result]], *, named: Sequence[str] = ()
) -> Result:
    """Change a job in one transaction, with the calendars that it names and those that the change names.

    The calendars are read before the transaction begins. It begins again where the job was changed meanwhile. The
    cursor is locked before the job is read and changed: nodes lock in that order at the last fire of a job.
    """

    async def inside(tx: Tx) -> Result:
        await cursors.seize(tx, found)
        job = await find_in(ctx, tx, name)
        if job.id != found.id or not asked.issuperset(job.calendars):
            raise Contended(f"job {name!r} was changed meanwhile")
        return await work(tx, job, days)

    for _ in range(TRIES):
        found = await find(ctx, name)
        asked = {*named, *found.calendars}
        days = await calendars.known(ctx, sorted(asked))
        with suppress(Contended):
            return await ctx.store.run(await shard_of_job(ctx, name), inside)
    raise Contended(f"job {name!r} kept changing; nothing was changed, ask again")


def planned(job: Job, days: Days) -> Schedule:
    """A job's schedule with those of its calendars that are known."""
    return job.schedule({name: days[name] for name in job.calendars if name in days})


async def find(ctx: Context, name: str) -> Job:
    """The living job of that name."""
    async with ctx.store.statement(await shard_of_job(ctx, name)) as tx:
        return await find_in(ctx, tx, name)


async def named(ctx: Context, ref: str, *, removed: bool = False) -> Job:
    """The job behind a public id or a name; `removed`: also one that is gone, for reading what it left."""
    try:
        id_ = private(Prefix.JOB, ref)
    except NotFound:
        return await find(ctx, ref)
    async with ctx.store.statement(shard_in(id_)) as tx:
        job = await jobs.by_id(tx, ctx.tenant.id, id_)
    if job is None or (job.status == Status.REMOVED and not removed):
        raise NotFound(f"tenant {ctx.tenant.name!r} has no job {ref!r}")
    return job


async def page(ctx: Context, wanted: Wanted, *, after: str = "", limit: int = 50, whole: bool = True) -> list[Job]:
    """The wanted jobs by name, from all cells; the next page comes `after` the name of this one's last.

    `whole=False` is for people who look: who decides by the list must not take a job for missing while a cell is down.
    """
    found = await ctx.ask_each(lambda tx: jobs.page(tx, ctx.tenant.id, wanted, after, limit), whole=whole)
    return sorted(chain.from_iterable(found), key=lambda job: job.name)[:limit]


async def listing(ctx: Context) -> list[Job]:
    """All living jobs of the tenant, by name, of the cells that answer."""
    found = await ctx.ask_each(lambda tx: jobs.listing(tx, ctx.tenant.id))
    return sorted(chain.from_iterable(found), key=lambda job: job.name)


async def pause(ctx: Context, name: str) -> Job:
    """Stop fires and claims; what runs may finish."""

    async def work(tx: Tx, job: Job, _days: Days) -> Job:
        check_status(job, Status.ACTIVE, "paused")
        paused = await _held(tx, job)
        await tell(ctx, tx, paused, Event.JOB_PAUSED, {"held_from": await jobs.held_from(tx, paused)})
        return await shown_or_not(ctx, paused)

    return await change(ctx, name, work)


async def resume(ctx: Context, name: str) -> Job:
    """Go on from now; the fires that passed leave one SKIPPED(PAUSED) row for their whole range."""

    async def work(tx: Tx, job: Job, days: Days) -> Job:
        check_status(job, Status.PAUSED, "resumed")
        await cursors.seize(tx, job)  # the cursor before the job, as nodes lock them
        held_from = await jobs.held_from(tx, job)
        await _set_status(tx, job, Status.ACTIVE)
        next_fire_at = await _let_go(tx, job, planned(job, days), held_from) if held_from is not None else None
        over = held_from is not None and next_fire_at is None
        if over:  # its last fires passed meanwhile
            await jobs.complete(tx, [job.shard], [job.id])
        resumed = replace(job, status=Status.COMPLETED if over else Status.ACTIVE, next_fire_at=next_fire_at)
        await tell(ctx, tx, resumed, Event.JOB_RESUMED, {"held_from": held_from, "next": next_fire_at})
        return await shown_or_not(ctx, resumed)

    resumed = await change(ctx, name, work)
    ctx.wakes.wake(resumed.shard, resumed.next_fire_at or ctx.store.cell(resumed.shard).clock.now())
    return resumed


async def remove(ctx: Context, name: str) -> Job:
    """No fire and no claim any more. What waits in the job's shard is cancelled, a type's tasks when they come due.

    Fires that came due and were not fired leave one SKIPPED row for their whole range.
    """
    found = await find(ctx, name)
    known = await calendars.known(ctx, found.calendars)

    async def work(tx: Tx) -> Job:
        await cursors.seize(tx, found)  # before the job, in the order of nodes
        job = await find_in(ctx, tx, name)
        held_from = await jobs.held_from(tx, job)
        await _set_status(tx, job, Status.REMOVED)
        await _tell_owed(tx, job, held_from, known)
        await cursors.remove(tx, job)
        cancelled = await instances.cancel_waiting(tx, job.shard, job.id)
        removed = replace(job, status=Status.REMOVED, next_fire_at=None)
        await tell(ctx, tx, removed, Event.JOB_REMOVED, {"cancelled": len(cancelled)})
        return await shown_or_not(ctx, removed)

    return await ctx.store.run(await shard_of_job(ctx, name), work)


async def _tell_owed(tx: Tx, job: Job, held_from: datetime | None, known: dict[str, Calendar]) -> None:
    """Leave a row of what a job that goes has not fired: it was paused, or nobody came to it."""
    stood = job.next_fire_at if held_from is None else held_from
    if not job.recurring or stood is None or stood > tx.now:
        return
    reason = SkipReason.REMOVED if held_from is None else SkipReason.PAUSED
    try:
        schedule = job.schedule(known)
        owed = [one for one in passed(schedule, stood, tx.now, reason).verdicts if isinstance(one, Skip)]
    except HoraeError:  # written by a newer release: how many they are only that one knows
        owed = [Skip(stood, tx.now, 1, reason)]
    if held_from is not None:
        await cursors.resume(tx, job, held_from)
    for verdict in owed:
        row = cursors.skip_row(cursor_of(job, stood), verdict, None, tx.now)
        if not await cursors.skip(tx, job.definition.priority, [row]):
            raise Conflict(f"job {job.name!r} fired while it was being removed; ask again")


def _first_fire(job: Job, known: dict[str, Calendar], now: datetime) -> datetime | None:
    if job.single:
        return triggers.single_fire(job.definition.trigger, now)
    if not job.recurring:
        return None
    schedule = job.schedule(known)
    check(schedule, now)
    return first_wake(schedule, now)


async def _create_single(ctx: Context, tx: Tx, job: Job, key: DataKey | None) -> None:
    assert job.next_fire_at is not None
    place = tasks.Place(job.shard, job.tenant_id, job.id, OWN_KEY)
    change = Create(after=0, at=job.next_fire_at)
    note = tasks.note_of(Decision.CREATED, change, ctx.actor, tx.now)
    birth = birth_of(job, place, 1, tx.now)
    intent = sealed_intent(key, job.id, birth.idem_key, Intent(job.next_fire_at, job.definition.payload))
    await tasks.create(tx, place, change, intent, birth, note, len(ctx.tenant.former))


async def find_in(ctx: Context, tx: Tx, name: str) -> Job:
    """The living job of that name, inside a transaction of the caller's."""
    for placement in ctx.tenant.placements:
        job = await jobs.find(tx, placement.shard(shard_in(ctx.tenant.id), name), ctx.tenant.id, name)
        if job is not None:
            return job
    raise NotFound(f"tenant {ctx.tenant.name!r} has no job {name!r}")


async def _held(tx: Tx, job: Job) -> Job:
    """The job with its cursor put aside, at the fire it would have come to next."""
    held_from = await cursors.hold(tx, job) if job.recurring else None
    await _set_status(tx, job, Status.PAUSED, held_from=held_from)
    return replace(job, status=Status.PAUSED, next_fire_at=None)


async def _set_status(tx: Tx, job: Job, status: Status, *, held_from: datetime | None = None) -> None:
    if not await jobs.set_status(tx, job, status, held_from=held_from):
        raise Contended(f"job {job.name!r} changed while it was being {status.lower()}; ask again")


async def _let_go(tx: Tx, job: Job, schedule: Schedule, held_from: datetime) -> datetime | None:
    """Put a paused cursor at the next fire from now, and tell what passed as one range.

    The schedule may have become another one meanwhile: what it has no fire for is neither told nor fired.
    """
    stood = held_from if held_from <= tx.now else first_wake(schedule, tx.now)
    wake, told = stood, []
    if stood is not None and stood <= tx.now:
        step = passed(schedule, stood, tx.now, SkipReason.PAUSED)
        wake, told = step.wake, _skip_rows(tx, job, stood, step)
    moved = await cursors.resume(tx, job, stood if told else wake)
    if told:
        moved = moved and bool(await cursors.skip(tx, job.definition.priority, told))
    if not moved:
        raise Contended(f"job {job.name!r} was changed while it was being resumed")
    return wake


def _skip_rows(tx: Tx, job: Job, stood: datetime, step: Step) -> list[cursors.Skip]:
    """The rows of what a cursor passes; there is one at most."""
    at = cursor_of(job, stood)
    return [cursors.skip_row(at, one, step.wake, tx.now) for one in step.verdicts if isinstance(one, Skip)]
