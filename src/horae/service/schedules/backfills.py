"""Backfills: request past fires of a job as a range, read the progress, cancel. Nodes create the instances."""

from datetime import UTC, datetime
from hashlib import sha256
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Conflict, Duplicate, Invalid, NotFound, ShardClosed
from horae.domain.events.events import Event
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.instances.idempotency_keys import LONGEST_IDEMPOTENCY_KEY
from horae.domain.instances.instances import Lane
from horae.domain.jobs.jobs import Job, Status
from horae.domain.schedules import Schedule
from horae.domain.schedules import backfills as rules
from horae.domain.schedules.backfills import DEFAULT_CAP, Backfill
from horae.runtime.randomness import new_id
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.service.jobs.changes import record_change
from horae.service.jobs.jobs import Days
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
LAST_ID: Final = UUID(int=2**128 - 1)
"""An id that is greater than every backfill's."""


class BackfillRequest(msgspec.Struct, frozen=True):
    """A range of fires, `until` excluded, of at most `cap` fires. A re-run gives them new idempotency keys."""

    since: datetime
    until: datetime
    cap: int = DEFAULT_CAP
    rerun: bool = False


class BackfillStart(NamedTuple):
    """The backfill of an idempotency key. `replayed`: an earlier request with this key created it."""

    backfill: Backfill
    replayed: bool = False


class BackfillDetail(NamedTuple):
    """A backfill, how many of its instances wait, and how many ended in each state."""

    backfill: Backfill
    waiting: int
    ended: dict[str, int]


async def start(ctx: Context, name: str, key: str, asked: BackfillRequest) -> BackfillStart:
    """Begin a backfill, once per idempotency key. Its range ends at the job's cursor at the latest."""
    if not key or len(key) > LONGEST_IDEMPOTENCY_KEY:
        raise Invalid(f"a backfill needs an Idempotency-Key of 1 to {LONGEST_IDEMPOTENCY_KEY} characters")
    rules.check(asked.since, asked.until, asked.cap)
    shard = await shard_of_job(ctx, name)
    request = KeyScope(shard, ctx.tenant.id, ROUTE, name, key, sha256(msgspec.json.encode(asked)).digest())
    there_are = await _count_running(ctx)

    async def work(tx: Tx, job: Job, days: Days) -> BackfillStart:
        id_ = new_id(shard, tx.now)
        if not await idempotency.reserve(tx, request, None, {"backfill_id": id_}):
            return await _replay(ctx, tx, request)
        rules.check_running(there_are)
        made = await _new_backfill(ctx, tx, job, jobs.schedule_with(job, days), id_, asked)
        if not await backfills.create(tx, made):
            raise Conflict(f"a backfill of job {name!r} that still runs has a part of this range")
        detail = {"backfill": public(Prefix.BACKFILL, id_), "since": made.since, "until": made.until}
        await record_change(
            ctx, tx, job, Event.BACKFILL_STARTED, {**detail, "planned": made.planned, "rerun": made.rerun}
        )
        return BackfillStart(made)

    return await jobs.change(ctx, name, work)


async def show(ctx: Context, id_: UUID) -> BackfillDetail:
    """Returns the progress of a backfill."""
    async with ctx.store.statement(shard_in(id_)) as tx:
        found = await _find(ctx, tx, id_)
        waiting = await backfills.count_live(tx, found, MOST_COUNTED)
        lane = Lane.BACKFILL
        ended = await history.outcomes(
            tx, ctx.tenant.id, found.job_id, found.since, found.until, lane=lane, most=MOST_COUNTED
        )
        return BackfillDetail(found, waiting, ended)


async def of_job(ctx: Context, job: Job, *, before: UUID = LAST_ID, limit: int = 50) -> list[Backfill]:
    """Returns a job's backfills, newest first. The next page is `before` the last one."""
    async with ctx.store.statement(job.shard) as tx:
        return await backfills.of_job(tx, ctx.tenant.id, job.id, before, limit)


async def cancel(ctx: Context, id_: UUID) -> Backfill:
    """Create no further instances of a backfill and cancel the waiting ones; running attempts may finish."""

    async def work(tx: Tx) -> Backfill:
        found = await _find(ctx, tx, id_)
        if not await backfills.cancel(tx, found):
            raise Conflict(f"the backfill is {found.status}; only one that runs can be cancelled")
        withdrawn = await backfills.withdraw(tx, found)
        job = await rows.by_id(tx, ctx.tenant.id, found.job_id)
        assert job is not None, "jobs are never deleted while their tenant is there"
        detail = {"backfill": public(Prefix.BACKFILL, id_), "cancelled": withdrawn}
        await record_change(ctx, tx, job, Event.BACKFILL_CANCELLED, detail)
        return await _find(ctx, tx, id_)

    return await ctx.store.run(shard_in(id_), work)


async def _count_running(ctx: Context) -> int:
    """Counts the tenant's running backfills in the cells that answer."""
    return sum(await ctx.ask_each(lambda tx: backfills.count_running(tx, ctx.tenant.id, rules.MAX_RUNNING)))


async def _new_backfill(
    ctx: Context, tx: Tx, job: Job, schedule: Schedule, id_: UUID, asked: BackfillRequest
) -> Backfill:
    if not job.recurring:
        raise Conflict(f"job {job.name!r} has no schedule, hence no past fires")
    if job.status == Status.PAUSED:
        raise Conflict(f"job {job.name!r} is PAUSED; resume it first")
    await rows.lock(tx, job)
    since, until = asked.since.astimezone(UTC), min(asked.until.astimezone(UTC), job.next_fire_at or tx.now)
    rules.check(since, until, asked.cap)
    planned = rules.count_planned(schedule, since, until, asked.cap)
    return Backfill(
        shard=job.shard,
        id=id_,
        tenant_id=ctx.tenant.id,
        job_id=job.id,
        since=since,
        until=until,
        cursor=since,
        cap=asked.cap,
        planned=planned,
        rerun=asked.rerun,
        created_at=tx.now,
        created_by=ctx.actor,
    )


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
