"""Jobs and backlogs for tests of recovery."""

from datetime import datetime, timedelta
from typing import Final

from horae.domain.instances.instances import Priority
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.service.context import Context
from horae.store.store import Store
from tests.bulk import bulk_jobs
from tests.catcher import Arrival, Catcher, percentile
from tests.steps import a_job, every, query

CRITICAL: Final = "critical"
MADE_CRITICAL: Final = """
    update job_cursor c set priority = 0 from job j
    where j.shard_id = c.shard_id and j.id = c.job_id and j.name like 'critical-%'"""
STORM: Final = """
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, state, attempt, retry_count)
    select ($1::int[])[1 + n % cardinality($1::int[])], gen_random_uuid(), $2, $3, 1, 'storm-' || n, $4, $4, $4,
           1, 1, 1000, 'FAIL', 1, 1
    from generate_series($5::int, $6::int) n"""


async def critical_jobs(ctx: Context, store: Store, catcher: Catcher, number: int) -> None:
    """Critical jobs that fire every second."""
    start = store.cells[0].clock.now().replace(microsecond=0) + timedelta(seconds=1)
    target = HttpTarget(f"{catcher.url}/{CRITICAL}")
    made = Definition(trigger=IntervalTrigger(1, start), target=target, priority=Priority.CRITICAL)
    await bulk_jobs(ctx, store, number, made, start, CRITICAL)
    await query(store, MADE_CRITICAL)


async def retry_storm(ctx: Context, store: Store, catcher: Catcher, waiting: int) -> None:
    """Retries of one job that are all due now, in every cell."""
    job = await a_job(ctx, "storm", every(ctx, 86_400, "storm"), target=HttpTarget(f"{catcher.url}/storm"))
    many = waiting // len(store.cells)
    for number, cell in enumerate(store.cells):
        shards = list(store.shards_of(cell))
        args = (shards, ctx.tenant.id, job.id, cell.clock.now(), number * many + 1, (number + 1) * many)
        await query(cell, STORM, *args)


def first_critical_after(catcher: Catcher, at: datetime) -> Arrival | None:
    """The first critical call of a fire after a time."""
    found = [one for one in catcher.of(f"/{CRITICAL}") if one.fire_time > at]
    return min(found, key=lambda one: one.began, default=None)


def p95_late_s(catcher: Catcher, since: datetime, until: datetime) -> float | None:
    """The 95th percentile of the lateness of fires between two times, without the storm; None without any."""
    late = [
        (one.at - one.fire_time).total_seconds()
        for one in catcher.arrivals
        if one.path != "/storm" and one.attempt == 1 and since <= one.fire_time < until
    ]
    return percentile(late, 0.95) if late else None
