"""One action for many jobs that are chosen by label, status or name. Each job has its own answer.

Each job has its own transaction; a refusal of one does not stop the others.
"""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from functools import partial
from typing import Final
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid, NewerRelease
from horae.domain.ids import Prefix, public
from horae.domain.jobs.jobs import Job, JobFilter, Status, check_status
from horae.service.context import Context
from horae.service.instances import instances, interventions, searches
from horae.service.jobs import jobs
from horae.service.limits import retry_budgets
from horae.service.refusals import refusal_of
from horae.store.instances import instances as rows

MOST: Final = 1000
"""Jobs in one request at most."""
MOST_RETRIED: Final = 1000
"""Instances of one job that a retry makes due at most."""


class BulkAction(StrEnum):
    """What may be done to many jobs at once."""

    PAUSE = "pause"
    RESUME = "resume"
    TRIGGER = "trigger"
    RETRY = "retry"


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result for one job. `instances` were triggered or retried; `code` says why the job was refused."""

    job_id: str
    name: str
    ok: bool
    instances: tuple[UUID, ...] = ()
    code: str | None = None
    message: str | None = None


class BulkResult(msgspec.Struct, frozen=True):
    """A result for each job. `next` is the last name where more jobs may match."""

    items: list[Item]
    next: str | None = None


async def run(
    ctx: Context,
    verb: BulkAction,
    wanted: JobFilter,
    *,
    key: str | None = None,
    after: str = "",
    limit: int = 100,
    dry_run: bool = False,
) -> BulkResult:
    """Run an action on the wanted jobs, by name. A trigger uses the same idempotency key for each job.

    `dry_run` changes nothing: it returns what the status of each job allows now.
    """
    if wanted.any:
        raise Invalid("say which jobs: by label, by status or by the beginning of their names")
    if not 1 <= limit <= MOST:
        raise Invalid(f"one request speaks of 1 to {MOST} jobs, not of {limit}")
    page = await jobs.page(ctx, wanted, after=after, limit=limit, unreadable=True)
    act: Callable[[Job], Awaitable[tuple[UUID, ...]]]
    act = partial(_check, verb) if dry_run else partial(_do, ctx, verb, key)
    items = [await _one(job, partial(act, job)) for job in page]
    return BulkResult(items, page[-1].name if len(page) == limit else None)


async def _one(job: Job, work: Callable[[], Awaitable[tuple[UUID, ...]]]) -> Item:
    id_ = public(Prefix.JOB, job.id)
    try:
        return Item(id_, job.name, ok=True, instances=await work())
    except Exception as error:
        refused = refusal_of(error)
        if refused is None:
            raise
        return Item(id_, job.name, ok=False, code=refused.code, message=str(refused))


async def _check(verb: BulkAction, job: Job) -> tuple[UUID, ...]:
    """Raise what an action on a job in this status would raise."""
    match verb:
        case BulkAction.PAUSE:
            check_status(job, Status.ACTIVE, "paused")
        case BulkAction.RESUME:
            check_readable(job)
            check_status(job, Status.PAUSED, "resumed")
        case BulkAction.TRIGGER:
            check_readable(job)
            instances.check_triggerable(job)
        case BulkAction.RETRY:
            check_readable(job)
    return ()


async def _do(ctx: Context, verb: BulkAction, key: str | None, job: Job) -> tuple[UUID, ...]:
    match verb:
        case BulkAction.PAUSE:
            await jobs.pause(ctx, job.name)
        case BulkAction.RESUME:
            await jobs.resume(ctx, job.name)
        case BulkAction.TRIGGER:
            return ((await instances.trigger(ctx, job.name, key or "")).instance_id,)
        case BulkAction.RETRY:
            return await _retry(ctx, job)
    return ()


def check_readable(job: Job) -> None:
    """Refuse a job that only a newer release can read."""
    if job.is_unreadable:
        raise NewerRelease(f"job {job.name!r} was written by a newer release; this one cannot read it")


async def _retry(ctx: Context, job: Job) -> tuple[UUID, ...]:
    """Make the job's instances that wait for their retry due now, at most `MOST_RETRIED`."""
    check_readable(job)
    done: list[UUID] = []
    most = min(MOST_RETRIED, await retry_budgets.most_at_once(ctx))
    for cell in searches.cells_of(ctx, job):
        async with cell.statement() as tx:
            shards = searches.shards_of(ctx, job)
            left = most - len(done)
            failing = await rows.failing(tx, ctx.tenant.id, job.id, shards, left, spread=job.spread)
        if failing:
            await retry_budgets.spend(ctx, len(failing))
            done += await interventions.retry_now(ctx, failing)
    return tuple(done)
