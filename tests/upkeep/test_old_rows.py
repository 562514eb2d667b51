"""Rows over their term are deleted in batches: dead letters, ended backfills, ended jobs. What is in use stays."""

from datetime import timedelta

import pytest

from horae.domain.ids import compose
from horae.service.context import PlatformContext
from horae.service.instances import instances
from horae.service.jobs import jobs
from horae.service.tenants import tenants
from horae.upkeep import old_rows
from horae.upkeep.old_rows import BACKFILLS_KEPT, UNUSED_BUCKETS_KEPT, OldRowForgetter
from tests.steps import a_job, query

KEPT = timedelta(days=90)
LETTER = """
    insert into dead_letter (fire_time, created_at, job_version, shard_id, instance_id, tenant_id, job_id, replay_id,
                             idem_key, error_code, replay_status)
    select $1, $1, 1, $2, gen_random_uuid(), $3, $4, case when $5 = 'REPLAYING' then gen_random_uuid() end, 'k' || n,
           'HTTP_4XX', $5
    from generate_series(1, $6) n"""
BACKFILL = """
    insert into backfill (created_at, range_from, range_to, cursor, ended_at, cap, planned, shard_id, id, tenant_id,
                          job_id, rerun, status, created_by)
    values ($1, $1, $1::timestamptz + interval '1 h', $1, $2, 1, 1, $3, $4, $5, $6, false, $7, 'test')"""


async def letters(store, job, owner, age, many, status="NEW"):
    cell = store.cell(job.shard)
    await query(cell, LETTER, cell.clock.now() - age, job.shard, owner.id, job.id, status, many)


async def left(store, table):
    return sum(row["many"] for row in await query(store, f"select count(*) as many from {table}"))


def forgetter(store):
    return OldRowForgetter(store, dead_letters_kept=KEPT, ended_jobs_kept=KEPT)


async def forget_all(store):
    rounds = 0
    while await forgetter(store).once():
        rounds += 1
    return rounds


async def test_dead_letters_go_after_their_term_and_one_that_is_being_replayed_stays(ctx, store, tenant):
    job = await a_job(ctx)
    hour = timedelta(hours=1)
    await letters(store, job, tenant, KEPT + hour, 3)
    await letters(store, job, tenant, KEPT + hour, 2, "DISCARDED")
    await letters(store, job, tenant, KEPT + hour, 1, "REPLAYING")
    await letters(store, job, tenant, KEPT - hour, 4)
    assert await forget_all(store) == 1
    rows = await query(store, "select replay_status from dead_letter order by 1")
    assert [row["replay_status"] for row in rows] == ["NEW"] * 4 + ["REPLAYING"]


async def test_many_letters_of_many_tenants_go_batch_by_batch(ctx, store, tenant, monkeypatch):
    monkeypatch.setattr(old_rows, "BATCH", 50)
    job = await a_job(ctx)
    others = [await tenants.create(PlatformContext(store, "test"), f"other-{n}", width=1) for n in range(5)]
    for owner in (tenant, *others):
        await letters(store, job, owner, KEPT * 2, 30)
        await letters(store, job, owner, timedelta(), 5)
    assert await forget_all(store) == 4, "180 of them, 50 at a time"
    assert await left(store, "dead_letter") == 6 * 5


async def test_letters_of_a_shard_that_moves_stay(ctx, store, tenant):
    job = await a_job(ctx)
    await letters(store, job, tenant, KEPT * 2, 3)
    cell = store.cell(job.shard)
    await query(cell, "update shard set state = 'FROZEN', owner = null where shard_id = $1", job.shard)
    assert await forgetter(store).once() == 0
    await query(cell, "update shard set state = 'ACTIVE' where shard_id = $1", job.shard)
    assert await forgetter(store).once() == 3


@pytest.mark.parametrize(("status", "age", "stays"), [("DONE", 2, False), ("CANCELLED", 2, False), ("DONE", 0, True)])
async def test_a_backfill_goes_long_after_its_end(ctx, store, tenant, status, age, stays):
    job = await a_job(ctx)
    cell = store.cell(job.shard)
    began = cell.clock.now() - 3 * BACKFILLS_KEPT
    for number, (state, ended) in enumerate([(status, cell.clock.now() - age * BACKFILLS_KEPT), ("RUNNING", None)]):
        await query(cell, BACKFILL, began, ended, job.shard, compose(job.shard, 1, number), tenant.id, job.id, state)
    await forget_all(store)
    rows = await query(store, "select status from backfill order by status")
    assert [row["status"] for row in rows] == ([status] if stays else []) + ["RUNNING"]


async def names(store):
    return sorted(row["name"] for row in await query(store, "select name from job"))


async def end(store, name, status):
    """End a job long ago, as its last fire or a person does."""
    changed = "update job set status = $2, changed_at = changed_at - $3::interval where name = $1"
    await query(store, changed, name, status, 2 * KEPT)


async def test_ended_jobs_go_with_their_versions_and_running_ones_stay(ctx, store):
    for name in ("completed", "removed", "young", "paused", "active"):
        await a_job(ctx, name)
    await jobs.remove(ctx, "young")
    for name in ("completed", "removed", "paused", "active"):
        await end(store, name, name.upper())
    await forget_all(store)
    assert await names(store) == ["active", "paused", "young"]
    rows = await query(store, "select distinct name from job_version")
    assert sorted(row["name"] for row in rows) == ["active", "paused", "young"]


@pytest.mark.parametrize("by", ["live", "letter"])
async def test_an_ended_job_stays_while_something_of_it_lives(ctx, store, tenant, by):
    job = await a_job(ctx, "busy")
    if by == "live":
        await instances.trigger(ctx, "busy", "one", even_if_down=True)
    else:
        await letters(store, job, tenant, timedelta(), 1)
    await end(store, "busy", "COMPLETED")
    await forget_all(store)
    assert await names(store) == ["busy"]
    await query(store, "delete from instance_live")
    await query(store, "delete from dead_letter")
    await forget_all(store)
    assert await names(store) == []


BUCKET = "insert into quota_bucket (refilled_at, tokens, shard_id, tenant_id, key) values ($1, 1, $2, $3, $4)"
HOLD = """
    insert into quota_hold (seen_at, expires_at, asked, held, wanted, shard_id, tenant_id, incarnation, key)
    values ($1, $1, 0, 1, 0, $2, $3, gen_random_uuid(), $4)"""


async def test_buckets_of_limits_that_nobody_uses_go_with_what_dead_nodes_held(store, tenant):
    cell = store.cells[0]
    shard, now = store.shards_of(cell)[0], cell.clock.now()
    old = now - 2 * UNUSED_BUCKETS_KEPT
    for key, used in (("unused", old), ("held", old), ("used", now)):
        await query(cell, BUCKET, used, shard, tenant.id, key)
    await query(cell, HOLD, old, shard, tenant.id, "unused")
    await query(cell, HOLD, now + timedelta(hours=1), shard, tenant.id, "held")
    await forget_all(store)
    for table in ("quota_bucket", "quota_hold"):
        rows = await query(store, f"select distinct key from {table} order by key")
        assert [row["key"] for row in rows] == (["held", "used"] if table == "quota_bucket" else ["held"])
