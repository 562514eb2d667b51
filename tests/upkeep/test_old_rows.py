"""Rows over their term are deleted in batches: dead letters and ended backfills; what is younger or in use stays."""

from datetime import timedelta

import pytest

from horae.domain.ids import compose
from horae.service.context import PlatformContext
from horae.service.tenants import tenants
from horae.upkeep import old_rows
from horae.upkeep.old_rows import BACKFILLS_KEPT, OldRowForgetter
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


async def forget_all(store):
    rounds = 0
    while await OldRowForgetter(store, KEPT).once():
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
    assert await OldRowForgetter(store, KEPT).once() == 0
    await query(cell, "update shard set state = 'ACTIVE' where shard_id = $1", job.shard)
    assert await OldRowForgetter(store, KEPT).once() == 3


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
