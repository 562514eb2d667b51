"""Backfills: request past fires of a job as a range, read the progress, pause, resume, cancel. Nodes run them."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import replace

from horae.domain.errors import Conflict, Duplicate, Invalid, NotFound, ShardClosed
from horae.domain.events.events import Event
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.instances.idempotency_keys import LONGEST_IDEMPOTENCY_KEY
from horae.domain.instances.instances import Lane
from horae.domain.jobs.jobs import Job, Status
from horae.domain.measures.measures import MeasureAction
from horae.domain.schedules import Schedule
from horae.domain.schedules import backfills as rules
from horae.domain.schedules.backfill_progress import BackfillProgress, PastFires, count_needed, progress_of
from horae.domain.schedules.backfills import DEFAULT_CAP, Backfill, BackfillMode
from horae.runtime.randomness import new_id
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.service.jobs.changes import record_change
from horae.service.jobs.jobs import Days
from horae.service.measures.refusals import refuse_by_measure
from horae.service.tenants.places import shard_of_job
from horae.store import idempotency
from horae.store.idempotency import KeyScope
from horae.store.instances import history
from horae.store.jobs import jobs as rows
from horae.store.schedules import backfills
from horae.store.tx import Tx

ROUTE: Final = "jobs.backfill"
MOST_COUNTED: Final = 100_000
"""Instances that are counted at most."""
MOST_PAST: Final = 200_000
"""Rows of history that are read at most to count the needed fires."""
LAST_ID: Final = UUID(int=2**128 - 1)
"""An id that is greater than every backfill's."""


class BackfillRequest(msgspec.Struct, frozen=True):
    """A range of fires, `until` excluded, of at most `cap` fires. `rate` bounds the instances a second."""

    since: datetime
    until: datetime
    cap: int = DEFAULT_CAP
    mode: BackfillMode = BackfillMode.UNSUCCESSFUL
    newest_first: bool = False
    rate: float | None = None


class BackfillPart(NamedTuple):
    """What makes a backfill a part of a group: the id of the group, and the digest of the whole request."""

    group_id: UUID
    fingerprint: bytes


class BackfillStart(NamedTuple):
    """The backfill of an idempotency key. `replayed`: an earlier request with this key created it."""

    backfill: Backfill
    replayed: bool = False


class BackfillDetail(NamedTuple):
    """A backfill, how many of its instances wait, how many ended in each state, and how long it will take."""

    backfill: Backfill
    waiting: int
    ended: dict[str, int]
    progress: BackfillProgress | None = None


async def start(
    ctx: Context, name: str, key: str, asked: BackfillRequest, part: BackfillPart | None = None
) -> BackfillStart:
    """Begin a backfill, once per idempotency key. Its range ends at the job's cursor at the latest."""
    check_request(key, asked)
    shard = await shard_of_job(ctx, name)
    refuse_by_measure(ctx, shard, MeasureAction.CLOSE_BACKFILLS, "no backfill can be started")
    fingerprint = request_digest(asked) if part is None else part.fingerprint
    request = KeyScope(shard, ctx.tenant.id, ROUTE, name, key, fingerprint)
    there_are, past = await _count_running(ctx), await read_past(ctx, await jobs.find(ctx, name), asked)

    async def work(tx: Tx, job: Job, days: Days) -> BackfillStart:
        id_ = new_id(shard, tx.now)
        if not await idempotency.reserve(tx, request, None, {"backfill_id": id_}):
            return await _replay(ctx, tx, request)
        rules.check_running(there_are)
        made = await _new_backfill(ctx, tx, job, jobs.schedule_with(job, days), id_, asked)
        needed = None if past is None else count_needed(made.mode, made.planned, past)
        made = replace(made, needed=needed, group_id=None if part is None else part.group_id)
        if not await backfills.create(tx, made):
            raise Conflict(f"a backfill of job {name!r} that has not ended has a part of this range")
        await record_change(ctx, tx, job, Event.BACKFILL_STARTED, _start_detail(made))
        return BackfillStart(made)

    return await jobs.change(ctx, name, work)


def check_request(key: str, asked: BackfillRequest) -> None:
    """Refuse a request without a usable key, and a range, cap or rate out of bounds."""
    if not key or len(key) > LONGEST_IDEMPOTENCY_KEY:
        raise Invalid(f"a backfill needs an Idempotency-Key of 1 to {LONGEST_IDEMPOTENCY_KEY} characters")
    rules.check(asked.since, asked.until, asked.cap)
    rules.check_rate(asked.rate)


def request_digest(asked: BackfillRequest, **more: object) -> bytes:
    """Returns the digest by which the same request is known again, also if an older release took it."""
    said = {"since": asked.since, "until": asked.until, "cap": asked.cap, "rerun": asked.mode == BackfillMode.ALL}
    if asked.mode in (BackfillMode.MISSING, BackfillMode.FAILED):
        more["mode"] = asked.mode
    if asked.newest_first:
        more["newest_first"] = True
    if asked.rate is not None:
        more["rate"] = asked.rate
    return sha256(msgspec.json.encode(said | more)).digest()


async def read_past(ctx: Context, job: Job, asked: BackfillRequest) -> PastFires | None:
    """Returns how the fires of the range went before; None where there is too much history. No lock is held."""
    check_job(job)
    since, until = range_of(job, asked, ctx.now(job.shard))
    async with ctx.store.statement(job.shard) as tx:
        return await backfills.past_fires(tx, ctx.tenant.id, job.id, since, until, MOST_PAST)


async def show(ctx: Context, id_: UUID) -> BackfillDetail:
    """Returns the progress of a backfill."""
    async with ctx.store.statement(shard_in(id_)) as tx:
        found = await _find(ctx, tx, id_)
        waiting = await backfills.count_live(tx, found, MOST_COUNTED)
        lane = Lane.BACKFILL
        ended = await history.outcomes(
            tx, ctx.tenant.id, found.job_id, found.since, found.until, lane=lane, most=MOST_COUNTED
        )
        return BackfillDetail(found, waiting, ended, progress_of(found, waiting, tx.now))


async def of_job(ctx: Context, job: Job, *, before: UUID = LAST_ID, limit: int = 50) -> list[Backfill]:
    """Returns a job's backfills, newest first. The next page is `before` the last one."""
    async with ctx.store.statement(job.shard) as tx:
        return await backfills.of_job(tx, ctx.tenant.id, job.id, before, limit)


async def pause(ctx: Context, id_: UUID) -> Backfill:
    """Create no further instances of a backfill until it is resumed. Those that exist run."""

    async def work(tx: Tx, found: Backfill) -> dict[str, object]:
        if not await backfills.pause(tx, found):
            raise Conflict(f"the backfill is {found.status}; only one that runs can be paused")
        return {"decided": found.inserted + found.already}

    return await _change(ctx, id_, Event.BACKFILL_PAUSED, work)


async def resume(ctx: Context, id_: UUID) -> Backfill:
    """Let a paused backfill go on where it stood."""
    refuse_by_measure(ctx, shard_in(id_), MeasureAction.CLOSE_BACKFILLS, "no backfill can be resumed")

    async def work(tx: Tx, found: Backfill) -> dict[str, object]:
        if not await backfills.resume(tx, found):
            raise Conflict(f"the backfill is {found.status}; only one that is paused can be resumed")
        return {"decided": found.inserted + found.already}

    return await _change(ctx, id_, Event.BACKFILL_RESUMED, work)


async def cancel(ctx: Context, id_: UUID) -> Backfill:
    """Create no further instances of a backfill and cancel the waiting ones; running attempts may finish."""

    async def work(tx: Tx, found: Backfill) -> dict[str, object]:
        if not await backfills.cancel(tx, found):
            raise Conflict(f"the backfill is {found.status}; only one that runs or is paused can be cancelled")
        return {"cancelled": await backfills.withdraw(tx, found)}

    return await _change(ctx, id_, Event.BACKFILL_CANCELLED, work)


async def _change(
    ctx: Context, id_: UUID, event: Event, work: Callable[[Tx, Backfill], Awaitable[dict[str, object]]]
) -> Backfill:
    """Change the status of a backfill, and record the change with what `work` says about it."""

    async def inside(tx: Tx) -> Backfill:
        found = await _find(ctx, tx, id_)
        detail = await work(tx, found)
        job = await rows.by_id(tx, ctx.tenant.id, found.job_id)
        assert job is not None, "jobs are never deleted while their tenant is there"
        await record_change(ctx, tx, job, event, {"backfill": public(Prefix.BACKFILL, id_), **detail})
        return await _find(ctx, tx, id_)

    return await ctx.store.run(shard_in(id_), inside)


async def _count_running(ctx: Context) -> int:
    """Counts the tenant's running backfills in the cells that answer."""
    return sum(await ctx.ask_each(lambda tx: backfills.count_running(tx, ctx.tenant.id, rules.MAX_RUNNING)))


async def _new_backfill(
    ctx: Context, tx: Tx, job: Job, schedule: Schedule, id_: UUID, asked: BackfillRequest
) -> Backfill:
    check_job(job)
    if job.status == Status.PAUSED:
        raise Conflict(f"job {job.name!r} is PAUSED; resume it first")
    await rows.lock(tx, job)
    since, until = range_of(job, asked, tx.now)
    return Backfill(
        shard=job.shard,
        id=id_,
        tenant_id=ctx.tenant.id,
        job_id=job.id,
        since=since,
        until=until,
        cursor=since,
        cap=asked.cap,
        planned=rules.count_planned(schedule, since, until, asked.cap),
        mode=asked.mode,
        decided_from=until if asked.newest_first else None,
        rate=asked.rate,
        created_at=tx.now,
        created_by=ctx.actor,
    )


def check_job(job: Job) -> None:
    """Refuse a job without past fires."""
    if not job.recurring:
        raise Conflict(f"job {job.name!r} has no schedule, hence no past fires")


def range_of(job: Job, asked: BackfillRequest, now: datetime) -> tuple[datetime, datetime]:
    """Returns the range in UTC, cut where the job's own cursor stands."""
    since, until = asked.since.astimezone(UTC), min(asked.until.astimezone(UTC), job.next_fire_at or now)
    rules.check(since, until, asked.cap)
    return since, until


def _start_detail(made: Backfill) -> dict[str, object]:
    detail: dict[str, object] = {"backfill": public(Prefix.BACKFILL, made.id), "since": made.since, "until": made.until}
    detail |= {"planned": made.planned, "rerun": made.rerun, "mode": made.mode}
    if made.newest_first:
        detail["newest_first"] = True
    if made.rate is not None:
        detail["rate"] = made.rate
    if made.group_id is not None:
        detail["group"] = public(Prefix.BACKFILL_GROUP, made.group_id)
    return detail


async def _find(ctx: Context, tx: Tx, id_: UUID) -> Backfill:
    found = await backfills.find(tx, ctx.tenant.id, id_)
    if found is None:
        raise NotFound(f"tenant {ctx.tenant.name!r} has no backfill {public(Prefix.BACKFILL, id_)}")
    return found


async def _replay(ctx: Context, tx: Tx, request: KeyScope) -> BackfillStart:
    first = await idempotency.find(tx, request)
    if first is None:
        raise ShardClosed("the job's shard is moving; nothing was begun")
    id_ = UUID(first.answer["backfill_id"])
    if first.fingerprint != request.fingerprint:
        seen = public(Prefix.BACKFILL, id_)
        found = await _find(ctx, tx, id_)
        raise Duplicate(
            f"this Idempotency-Key was used for another request, which began {seen}",
            backfill_id=seen,
            state=found.status,
        )
    return BackfillStart(await _find(ctx, tx, id_), replayed=True)
