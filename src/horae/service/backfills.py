"""Backfills: ask for past fires of a job as a range, see how far they are, call them off. Nodes do the walking."""

from datetime import UTC, datetime
from hashlib import sha256
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain import backfills as rules
from horae.domain.backfills import DEFAULT_CAP, Backfill
from horae.domain.errors import Conflict, Duplicate, Invalid, NotFound, ShardClosed
from horae.domain.events import Event
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.instances import Lane
from horae.domain.jobs import Job, Status
from horae.domain.schedule import Schedule
from horae.runtime.chance import mint
from horae.service import jobs
from horae.service.changes import tell
from horae.service.context import Context
from horae.service.jobs import Days
from horae.service.places import shard_of_job
from horae.store import backfills, history, idempotency
from horae.store import jobs as rows
from horae.store.idempotency import Request
from horae.store.tx import Tx

ROUTE: Final = "jobs.backfill"
MOST_COUNTED: Final = 100_000
LAST_ID: Final = UUID(int=2**128 - 1)


class Asked(msgspec.Struct, frozen=True):
    """A range of fires, `until` excluded; more than `cap` of them are refused. A re-run's fires have new keys."""

    since: datetime
    until: datetime
    cap: int = DEFAULT_CAP
    rerun: bool = False


class Started(NamedTuple):
    """The backfill a key stands for. `replayed`: an earlier request with this key made it."""

    backfill: Backfill
    replayed: bool = False


class Shown(NamedTuple):
    """A backfill, how many of its instances live, and how those that ended did."""

    backfill: Backfill
    waiting: int
    ended: dict[str, int]


async def start(ctx: Context, name: str, key: str, asked: Asked) -> Started:
    """Begin a backfill, once per idempotency key; its range ends where the job's cursor stands at the latest."""
    if not key or len(key) > 200:
        raise Invalid("a backfill needs an Idempotency-Key of 1 to 200 characters")
    rules.check(asked.since, asked.until, asked.cap)
    shard = await shard_of_job(ctx, name)
    request = Request(shard, ctx.tenant.id, ROUTE, name, key, sha256(msgspec.json.encode(asked)).digest())
    there_are = await _count_running(ctx)

    async def work(tx: Tx, job: Job, days: Days) -> Started:
        id_ = mint(shard, tx.now)
        if not await idempotency.reserve(tx, request, None, {"backfill_id": id_}):
            return await _replay(ctx, tx, request)
        rules.check_running(there_are)
        made = await _made(ctx, tx, job, jobs.planned(job, days), id_, asked)
        if not await backfills.create(tx, made):
            raise Conflict(f"a backfill of job {name!r} that still runs has a part of this range")
        detail = {"backfill": public(Prefix.BACKFILL, id_), "since": made.since, "until": made.until}
        await tell(ctx, tx, job, Event.BACKFILL_STARTED, {**detail, "planned": made.planned, "rerun": made.rerun})
        return Started(made)

    return await jobs.change(ctx, name, work)


async def show(ctx: Context, id_: UUID) -> Shown:
    """How far a backfill has come."""
    async with ctx.store.statement(shard_in(id_)) as tx:
        found = await _find(ctx, tx, id_)
        waiting = await backfills.waiting(tx, found, MOST_COUNTED)
        lane = Lane.BACKFILL
        ended = await history.outcomes(
            tx, ctx.tenant.id, found.job_id, found.since, found.until, lane=lane, most=MOST_COUNTED
        )
        return Shown(found, waiting, ended)


async def of_job(ctx: Context, job: Job, *, before: UUID = LAST_ID, limit: int = 50) -> list[Backfill]:
    """A job's backfills, newest first; the next page lies `before` this one's last."""
    async with ctx.store.statement(job.shard) as tx:
        return await backfills.of_job(tx, ctx.tenant.id, job.id, before, limit)


async def cancel(ctx: Context, id_: UUID) -> Backfill:
    """Give birth to no more of it and cancel what waits; what runs may finish."""

    async def work(tx: Tx) -> Backfill:
        found = await _find(ctx, tx, id_)
        if not await backfills.cancel(tx, found):
            raise Conflict(f"the backfill is {found.status}; only one that runs can be cancelled")
        withdrawn = await backfills.withdraw(tx, found)
        job = await rows.by_id(tx, ctx.tenant.id, found.job_id)
        assert job is not None, "jobs are never deleted while their tenant is there"
        detail = {"backfill": public(Prefix.BACKFILL, id_), "cancelled": withdrawn}
        await tell(ctx, tx, job, Event.BACKFILL_CANCELLED, detail)
        return await _find(ctx, tx, id_)

    return await ctx.store.run(shard_in(id_), work)


async def _count_running(ctx: Context) -> int:
    """How many of the tenant's are under way, in the cells that answer."""
    return sum(await ctx.ask_each(lambda tx: backfills.count_running(tx, ctx.tenant.id, rules.MAX_RUNNING)))


async def _made(ctx: Context, tx: Tx, job: Job, schedule: Schedule, id_: UUID, asked: Asked) -> Backfill:
    if not job.recurring:
        raise Conflict(f"job {job.name!r} has no schedule, hence no past fires")
    if job.status == Status.PAUSED:
        raise Conflict(f"job {job.name!r} is PAUSED; resume it first")
    await rows.lock(tx, job)
    since, until = asked.since.astimezone(UTC), min(asked.until.astimezone(UTC), job.next_fire_at or tx.now)
    rules.check(since, until, asked.cap)
    planned = rules.planned(schedule, since, until, asked.cap)
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


async def _replay(ctx: Context, tx: Tx, request: Request) -> Started:
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
    return Started(await _find(ctx, tx, id_), replayed=True)
