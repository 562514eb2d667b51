"""One verb for many jobs, chosen by label, status or name; answered item by item, and never for more than asked.

Each job is its own transaction: what is refused for one says nothing about the others.
"""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from functools import partial
from typing import Final
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.ids import Prefix, public
from horae.domain.jobs import Job, Wanted
from horae.service import budgets, instances, interventions, jobs, search
from horae.service.context import Context
from horae.service.refusals import refusal_of
from horae.store import instances as rows

MOST: Final = 1000
MOST_RETRIED: Final = 1000


class Verb(StrEnum):
    """What may be done to many jobs at once."""

    PAUSE = "pause"
    RESUME = "resume"
    TRIGGER = "trigger"
    RETRY = "retry"


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one job: `instances` are those triggered or tried again; `code` says why it was refused."""

    job_id: str
    name: str
    ok: bool
    instances: tuple[UUID, ...] = ()
    code: str | None = None
    message: str | None = None


class Done(msgspec.Struct, frozen=True):
    """An answer for each job; `next` is the name to go on after where there were more than asked for."""

    items: list[Item]
    next: str | None = None


async def run(
    ctx: Context, verb: Verb, wanted: Wanted, *, key: str | None = None, after: str = "", limit: int = 100
) -> Done:
    """Do it to the wanted jobs, by name. A trigger's key counts for each of them."""
    if wanted.any:
        raise Invalid("say which jobs: by label, by status or by the beginning of their names")
    if not 1 <= limit <= MOST:
        raise Invalid(f"one request speaks of 1 to {MOST} jobs, not of {limit}")
    page = await jobs.page(ctx, wanted, after=after, limit=limit)
    items = [await _one(job, partial(_do, ctx, verb, job, key)) for job in page]
    return Done(items, page[-1].name if len(page) == limit else None)


async def _one(job: Job, work: Callable[[], Awaitable[tuple[UUID, ...]]]) -> Item:
    id_ = public(Prefix.JOB, job.id)
    try:
        return Item(id_, job.name, ok=True, instances=await work())
    except Exception as error:
        refused = refusal_of(error)
        if refused is None:
            raise
        return Item(id_, job.name, ok=False, code=refused.code, message=str(refused))


async def _do(ctx: Context, verb: Verb, job: Job, key: str | None) -> tuple[UUID, ...]:
    match verb:
        case Verb.PAUSE:
            await jobs.pause(ctx, job.name)
        case Verb.RESUME:
            await jobs.resume(ctx, job.name)
        case Verb.TRIGGER:
            return ((await instances.trigger(ctx, job.name, key or "")).instance_id,)
        case Verb.RETRY:
            return await _retry(ctx, job)
    return ()


async def _retry(ctx: Context, job: Job) -> tuple[UUID, ...]:
    """All of a job's instances that wait for their retry are due now, at most a thousand."""
    done: list[UUID] = []
    most = min(MOST_RETRIED, await budgets.most_at_once(ctx))
    for cell in search.cells_of(ctx, job):
        async with cell.statement() as tx:
            shards = search.shards_of(ctx, job)
            left = most - len(done)
            failing = await rows.failing(tx, ctx.tenant.id, job.id, shards, left, spread=job.spread)
        if failing:
            await budgets.spend(ctx, len(failing))
            done += await interventions.hasten(ctx, failing)
    return tuple(done)
