"""The gauges of a cell and the counters of a process say what is there."""

import asyncio
from datetime import timedelta
from uuid import UUID

from horae.domain.health.signals import AttemptResult, bucket_of
from horae.domain.instances.instances import Lane, Priority
from horae.store.health import gauges
from horae.store.health.counters import FIRST_BUCKET, FIRST_SHIFT, SignalCounts
from horae.store.health.metrics import CellMetrics
from horae.store.health.named_metrics import NamedMetrics
from tests.steps import a_job, move_clock

CLASS = (Priority.NORMAL, Lane.FIRST)
KEPT = timedelta(days=14)


async def read(cell, kept=KEPT, relayed_from=0):
    async with cell.statement() as tx:
        return await gauges.read(tx, kept, relayed_from)


def samples_of(source, name):
    return {
        tuple(one.labels.values()): one.value
        for family in source.collect()
        for one in family.samples
        if one.name == name
    }


async def test_a_fresh_cell_has_nothing_to_catch_up_with(store):
    found = await read(store.cells[0])
    assert (found.days_behind, found.source_drift, found.dead_letters) == (0, 0, 0)
    assert found.feed_lag_s is found.intake_waiting is found.relay_lag_s is None
    assert found.days_ahead >= 7
    assert found.sessions["active"] == 1, "the session that asks"


async def test_days_over_their_term_are_behind_and_unarchived(store):
    await move_clock(store, days=5)
    found = await read(store.cells[0], timedelta(days=2))
    assert found.days_behind == 4, "the days from before the clock was moved, up to three days ago"
    assert 5 * 86_400 < found.archive_lag_s < 7 * 86_400


async def test_a_request_that_was_not_relayed_lags(ctx, store):
    job = await a_job(ctx)
    cell = store.cell(job.shard)
    insert = """insert into outbox (at, shard_id, tenant_id, job_id, event, body)
                values ($1, $2, $3, $4, 'COMPENSATION_ASKED', '{}')"""
    async with cell.tx() as tx:
        await tx.run(insert, tx.now - timedelta(seconds=90), job.shard, job.tenant_id, job.id)
    assert 90 <= (await read(cell, relayed_from=1)).relay_lag_s < 150
    async with cell.tx() as tx:
        await tx.run("insert into relay (shard_id, xid) select $1, max(xid) + 1 from outbox", job.shard)
    assert (await read(cell, relayed_from=1)).relay_lag_s == 0


async def test_the_wait_for_a_connection_is_counted(store):
    cell = store.cells[0]
    waits = cell.pool_waits
    before = waits.waits
    connections = [await cell.pool.acquire() for _ in range(cell.connections)]
    try:
        reading = asyncio.create_task(read(cell))
        await asyncio.sleep(0.05)
        assert not reading.done()
        await cell.pool.release(connections.pop())
        await reading
    finally:
        for connection in connections:
            await cell.pool.release(connection)
    assert waits.waits == before + 1
    assert waits.seconds >= 0.04
    assert samples_of(CellMetrics(store), "horae_pool_waits_total")[cell.name,] == waits.waits


def test_held_time_moves_a_delay_to_another_bucket():
    counts = SignalCounts()
    counts.count_delays(None, *CLASS, 3, 7)
    counts.count_held(UUID(int=1), *CLASS, 7, 2_000)
    delays = counts.totals()[CLASS][FIRST_BUCKET:FIRST_SHIFT]
    whole, total_s = counts.delays_with_held(*CLASS, delays)
    assert [n for n, many in enumerate(delays) if many] == [bucket_of(3), bucket_of(7)]
    assert [n for n, many in enumerate(whole) if many] == [bucket_of(3), bucket_of(2_007)]
    assert (counts.delay_sum_s(*CLASS), total_s) == (0.01, 2.01)


async def test_a_job_that_asks_has_metrics_and_the_busiest_tenants_are_named(ctx, store):
    job = await a_job(ctx, "job", labels={"metrics": "on"})
    counts = store.cell(job.shard).signal_counts
    counts.jobs.count(job.id, AttemptResult.DEAD, 30)
    counts.count_result(job.tenant_id, *CLASS, AttemptResult.DEAD)
    counts.take(10)
    found = NamedMetrics(store)
    [(named, dead)] = [item for item in samples_of(found, "horae_job_attempts_total").items() if item[1]]
    assert named[0].startswith("job_")
    assert (named[1], dead) == ("dead", 1)
    assert sum(samples_of(found, "horae_job_trigger_delay_seconds_count").values()) == 1
    [(tenant, _)] = [item for item in samples_of(found, "horae_busiest_tenant_attempts").items() if item[1]]
    assert tenant[0].startswith("ten")
