"""The dry run of a backfill: how many fires, how long it takes, what load it is, and what bounds its pace."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple

from horae.domain.jobs.jobs import Job
from horae.domain.limits.limits import Limit
from horae.domain.schedules import backfills as rules
from horae.domain.schedules.backfill_progress import (
    MAX_CREATED_PER_S,
    MIN_CALL_S,
    UNKNOWN_CALL_S,
    BackfillForecast,
    BoundedPace,
    PaceBound,
    PastFires,
    count_needed,
    forecast,
)
from horae.domain.targets.targets import PUSHED
from horae.domain.tenants.tenants import Allowance
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.service.limits import counts
from horae.service.schedules import calendars
from horae.service.schedules.backfills import BackfillRequest, check_job, range_of, read_past
from horae.store.nodes import leases
from horae.store.schedules import backfills as rows

LAST_CALLS: Final = 200
"""Calls of a job whose mean duration is that of the next ones."""


class BackfillPlan(NamedTuple):
    """What a backfill would do now. `past` is None where there is too much history to count; then all are needed.

    `nodes` are the living ones. Slots bound no job of a queue: its workers decide.
    """

    since: datetime
    until: datetime
    planned: int
    needed: int
    past: PastFires | None
    nodes: int
    forecast: BackfillForecast


async def plan(ctx: Context, name: str, asked: BackfillRequest) -> BackfillPlan:
    """Returns what a backfill would do, and changes nothing. The same ranges, caps and rates are refused."""
    rules.check(asked.since, asked.until, asked.cap)
    rules.check_rate(asked.rate)
    job = await jobs.find(ctx, name)
    check_job(job)
    since, until = range_of(job, asked, ctx.now(job.shard))
    days = await calendars.by_names(ctx, sorted(job.calendars))
    planned = rules.count_planned(jobs.schedule_with(job, days), since, until, asked.cap)
    past = await read_past(ctx, job, asked)
    needed = planned if past is None else count_needed(asked.mode, planned, past)
    allowance = await counts.allowance_of(ctx)
    async with ctx.store.statement(job.shard) as tx:
        call_s = await rows.call_seconds(tx, ctx.tenant.id, job.id, LAST_CALLS)
        nodes = sum(node.alive for node in await leases.nodes(tx))
    bounds = [
        BoundedPace(PaceBound.CREATION, MAX_CREATED_PER_S),
        *([] if asked.rate is None else [BoundedPace(PaceBound.RATE, asked.rate)]),
        *_limit_bounds(job, allowance, UNKNOWN_CALL_S if call_s is None else max(call_s, MIN_CALL_S)),
    ]
    if isinstance(job.definition.target, PUSHED):
        slots = nodes * ctx.memory.backfill_slots
        bounds.append(BoundedPace(PaceBound.LANE_SLOTS, slots / (max(call_s or UNKNOWN_CALL_S, MIN_CALL_S))))
    return BackfillPlan(since, until, planned, needed, past, nodes, forecast(needed, call_s, bounds))


def _limit_bounds(job: Job, allowance: Allowance, call_s: float) -> Iterator[BoundedPace]:
    """Yields the calls a second that each limit of the job's calls allows."""
    made, target = job.definition, job.definition.target
    limits: list[tuple[str, Limit | None]] = [("tenant", allowance.limit), ("job", made.limit)]
    limits += [(f"quota {name}", allowance.quotas.get(name)) for name in dict.fromkeys(made.quotas)]
    if isinstance(target, PUSHED):
        limits.append(("target", Limit(target.rate, None, target.max_concurrency)))
    for name, limit in limits:
        if limit is not None and limit.rate is not None:
            yield BoundedPace(PaceBound.LIMIT_RATE, limit.rate, name)
        if limit is not None and limit.concurrency is not None:
            yield BoundedPace(PaceBound.LIMIT_CONCURRENCY, limit.concurrency / call_s, name)
