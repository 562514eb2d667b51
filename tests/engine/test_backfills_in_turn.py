"""Backfills that stand still keep nobody else's waiting."""

from datetime import timedelta
from functools import partial

import pytest

from horae.domain.errors import CountReached
from horae.engine import backfills as engine
from horae.engine.backfills import Backfiller
from horae.engine.territory import Territory
from horae.service.context import Context, PlatformContext
from horae.service.jobs import jobs
from horae.service.schedules import backfills
from horae.service.schedules.backfills import BackfillRequest
from horae.service.tenants import tenants
from tests.steps import a_job, every, query

MANY = """
    insert into backfill (shard_id, id, tenant_id, job_id, range_from, range_to, cursor, cap, planned, rerun, status,
                          created_at, created_by)
    select $1, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $2, $3, at, at + interval '1 minute', at,
           1, 1, false, 'RUNNING', $4, 'test'
    from generate_series(1, 600) n, lateral (select $4::timestamptz - n * interval '1 minute' as at) past"""


@pytest.mark.parametrize("why", ["its job is paused", "its tenant is held", "nobody works on what was born"])
async def test_backfills_that_cannot_go_on_keep_no_other_tenants_waiting(ctx, store, monkeypatch, why):
    job, cell = await stand_still(ctx, store)
    if why == "its job is paused":
        await jobs.pause(ctx, "still")
    elif why == "nobody works on what was born":
        monkeypatch.setattr(engine.backfills, "count_live", partial(count_waiting, job.id))
    held = {ctx.tenant.id} if why == "its tenant is held" else ()
    walker = Backfiller(cell, Territory(store.shards_of(cell)), lambda _timer: None, lambda: held)
    started = await of_another(store, cell)
    for _ in range(2):  # at most as many rounds as there are pages
        await walker.once()
    [row] = await query(cell, "select status, born from backfill where id = $1", started.id)
    assert (row["status"], row["born"]) == ("DONE", started.planned)


async def test_a_tenant_has_so_many_backfills_under_way_and_no_more(ctx, store):
    await stand_still(ctx, store)
    job = await jobs.find(ctx, "still")
    asked = BackfillRequest(job.next_fire_at - timedelta(hours=2000), job.next_fire_at - timedelta(hours=1999))
    with pytest.raises(CountReached) as refused:
        await backfills.start(ctx, "still", "k", asked)
    assert refused.value.facts["kind"] == "backfills"
    await query(store, "update backfill set status = 'CANCELLED', ended_at = created_at")
    first = await backfills.start(ctx, "still", "k", asked)
    assert (await backfills.start(ctx, "still", "k", asked)).backfill.id == first.backfill.id


async def stand_still(ctx, store):
    """More backfills of one job than a round takes, older than those of others."""
    job = await a_job(ctx, "still", every(ctx, 60, "still"))
    cell = store.cell(job.shard)
    await query(cell, MANY, job.shard, ctx.tenant.id, job.id, cell.clock.now())
    return job, cell


async def count_waiting(still, _tx, one, most):
    """As many as there may be of the one job, none of any other."""
    return most if one.job_id == still else 0


async def of_another(store, cell):
    """A backfill of another tenant in the same cell."""
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "other", width=4096), "test")
    for n in range(50):
        job = await a_job(other, f"j{n}", every(other, 60, f"j{n}"))
        if store.cell(job.shard) is cell:
            asked = BackfillRequest(job.next_fire_at - timedelta(minutes=10), job.next_fire_at)
            return (await backfills.start(other, job.name, "k", asked)).backfill
    raise AssertionError("no job lies in that cell")
