"""Signals are counted in memory, written once a minute, and read as health."""

from datetime import timedelta
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.health.causes import CauseKind
from horae.domain.health.signals import HealthMode, percentile_ms
from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.outcomes import ErrorCode, Retryable, Success, Unrecoverable
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.runtime.randomness import new_token
from horae.service.context import Context, PlatformContext
from horae.service.health import health
from horae.service.instances import instances
from horae.service.tenants import tenants
from horae.service.workers import workers
from horae.store.health.counters import SignalCounts
from horae.store.nodes import leases
from horae.upkeep.signals import SIGNALS_KEPT, Signaller
from tests.catcher import catching
from tests.nodes import node_in
from tests.steps import a_job, claim_everywhere, every, move_clock, query, settle

TTL = timedelta(seconds=8)


async def fired(ctx, store, name, many, outcome):
    for n in range(many):
        await instances.trigger(ctx, name, f"{name}{n}", even_if_down=True)
    for ran in await claim_everywhere(store):
        await settle(store, ran, outcome)


async def test_a_node_counts_its_fires_and_how_late_they_were_and_health_tells_it(ctx, store):
    async with catching(store.cells[0].clock.now) as catcher:
        for n in range(10):
            await a_job(ctx, f"j{n}", every(ctx, 1, f"j{n}"), target=HttpTarget(catcher.url))
        node = node_in(store, "n", TTL)
        await move_clock(store, seconds=1.5)
        await node.drain()
        await Signaller(store, node.identity.incarnation).once()
        await node.leave()
        told = await health.health(ctx)
        assert told.fires_10m == len(catcher.effects) >= 10
    assert told.success_rate_10m == 1.0
    assert told.trigger_delay_p95_ms > 0
    now = max(cell.clock.now() for cell in store.cells)
    assert now - timedelta(minutes=2) < told.counted_until <= now, "it says how old it is"
    assert told.trigger_delay_limit_ms == 2000
    keys = msgspec.to_builtins(told)
    assert {"triggerDelayP95Ms", "successRate10m", "retryBacklog", "dlqGrowthPerMin", "backlog", "mode"} <= set(keys)
    rows = await query(store, "select tenant_id, priority, lane, success from signal where success > 0")
    assert {tuple(row)[:3] for row in rows} == {(ctx.tenant.id, Priority.NORMAL, Lane.FIRST)}


async def test_late_fires_failures_and_dead_letters_show_for_their_tenant_alone(ctx, store):
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "other", width=4096), "test")
    await a_job(ctx, "bad")
    await a_job(other, "good")
    await fired(ctx, store, "bad", 3, Retryable(ErrorCode.HTTP_5XX, "503"))
    await a_job(ctx, "dead")
    await fired(ctx, store, "dead", 2, Unrecoverable(ErrorCode.HTTP_4XX, "404"))
    await fired(other, store, "good", 5, Success())
    store.cells[0].signal_counts.count_delays(ctx.tenant.id, 1, 0, 4000)
    await Signaller(store, new_token()).once()
    mine, theirs = await health.health(ctx, ctx.tenant.id), await health.health(ctx, other.tenant.id)
    assert (mine.mode, mine.dlq_growth_per_min, mine.success_rate_10m) == ("DEGRADED", 2, 0.0)
    assert {cause.kind for cause in mine.causes} == {CauseKind.SHARDS_UNHELD, CauseKind.LATE, CauseKind.FAILING}
    assert (theirs.dlq_growth_per_min, theirs.success_rate_10m) == (0, 1.0)
    assert {cause.kind for cause in theirs.causes} == {CauseKind.SHARDS_UNHELD}, "no node runs here"
    assert (await health.health(ctx)).success_rate_10m == 0.5


async def test_the_last_hours_are_told_in_stretches_for_their_tenant_alone(ctx, store):
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "other", width=4096), "test")
    writers = new_token(), new_token()
    for minutes in (0, 0, 20, 20):
        await move_clock(store, seconds=minutes * 60)
        for writer in writers:
            for cell in store.cells:
                cell.signal_counts.count_delays(ctx.tenant.id, 1, 0, 3)
                cell.signal_counts.count_delays(other.tenant.id, 1, 0, 4000)
            await Signaller(store, writer).once()
    mine = await health.series(ctx, ctx.tenant.id, hours=1, points=6)
    assert (mine.step, len(mine.spans), mine.cells_down) == (timedelta(minutes=10), 6, [])
    assert [one.counted.fires for one in mine.spans] == [0, 8, 0, 4, 0, 4]
    everyone = await health.series(ctx, hours=1, points=60)
    assert sum(one.counted.fires for one in everyone.spans) == 32
    assert everyone.spans[-1].counted.fires == 8
    theirs = await health.series(ctx, other.tenant.id, hours=24, points=288)
    assert theirs.step * len(theirs.spans) == timedelta(hours=24)
    assert percentile_ms(theirs.spans[-1].counted.delays, 0.95) > 3000


async def test_one_node_of_a_cell_counts_what_waits_there(ctx, store):
    await a_job(ctx, "push")
    await a_job(ctx, "pull", target=QueueTarget("q"))
    for n in range(4):
        await instances.trigger(ctx, "push", str(n), even_if_down=True)
        await instances.trigger(ctx, "pull", str(n), even_if_down=True)
    for ran in (await claim_everywhere(store))[:3]:
        await settle(store, ran, Retryable(ErrorCode.HTTP_5XX, "503"))
    first, second = new_token(), new_token()
    for cell in store.cells:
        shards = store.shards_of(cell)
        for who, part in ((first, shards[: len(shards) // 2]), (second, shards[len(shards) // 2 :])):
            async with cell.tx() as tx:
                await leases.heartbeat(tx, who, "n", TTL)
                await leases.take(tx, who, part)
    for who in (second, first, new_token()):
        await Signaller(store, who).once()
    told = await health.health(ctx, ctx.tenant.id)
    assert (told.retry_backlog, told.backlog) == (3, 4), "four wait in the queue, one call is on its way"
    writers = {row["writer"] for row in await query(store, "select writer from signal where backlog is not null")}
    assert writers == {first}


async def test_what_workers_claim_is_counted_as_handed_over(ctx, store):
    await a_job(ctx, "pull", target=QueueTarget("q"))
    await instances.trigger(ctx, "pull", "k", even_if_down=True)
    await move_clock(store, seconds=3)
    assert len(await workers.claim(ctx, "q", "w")) == 1
    await Signaller(store, new_token()).once()
    assert (await health.health(ctx)).mode == "DEGRADED"


async def test_minutes_add_up_old_ones_go_and_too_many_tenants_are_nobodys(ctx, store):
    writer = new_token()
    for _ in range(2):
        for n in range(5):
            store.cells[0].signal_counts.count_delays(ctx.tenant.id, 1, 0, n)
        await Signaller(store, writer).once()
    rows = await query(store, "select delays from signal where delays <> '{}'")
    assert sum(sum(row["delays"]) for row in rows) == 10
    await move_clock(store, seconds=SIGNALS_KEPT.total_seconds() + 120)
    await Signaller(store, writer).once()
    assert await query(store, "select * from signal where delays <> '{}'") == []
    tally = SignalCounts()
    for n in range(1, 6):
        for _ in range(n):
            tally.count_delays(UUID(int=n), 1, 0, 1)
    counts = tally.take(2)
    assert {key.tenant_id.int: sum(row) for key, row in counts.items()} == {5: 5, 4: 4, 0: 6}


async def test_a_cell_that_is_down_gets_its_counts_later_and_health_names_it(ctx, store):
    down, up = store.cells
    for cell in store.cells:
        cell.signal_counts.count_delays(ctx.tenant.id, 1, 0, 1)
    pool, down._pool = down._pool, None
    down._pool = await _closed_pool(down)
    try:
        await Signaller(store, new_token()).once()
        told = await health.health(ctx)
        assert (told.mode, told.cells_down, told.fires_10m) == (HealthMode.DEGRADED, (down.name,), 1)
    finally:
        down._pool = pool
    await Signaller(store, new_token()).once()
    assert (await health.health(ctx)).fires_10m == 2
    assert up.name not in told.cells_down


async def _closed_pool(cell):
    pool = await asyncpg.create_pool(cell.dsn, min_size=1, max_size=1)
    await pool.close()
    return pool


async def test_nodes_and_shards_are_listed_with_their_leases(ctx, store):
    who = new_token()
    for cell in store.cells:
        async with cell.tx() as tx:
            await leases.heartbeat(tx, who, "node-a", TTL)
            await leases.take(tx, who, store.shards_of(cell)[:10])
    told = await health.nodes(ctx)
    assert [(one.cell, [(node.name, node.alive, node.shards) for node in one.nodes]) for one in told] == [
        (cell.name, [("node-a", True, 10)]) for cell in store.cells
    ]
    found, after = [], -1
    while page := [row for part in await health.shards_of(ctx, after=after, limit=1000) for row in part.shards]:
        found += page
        after = max(row.shard for row in page)
    assert sorted(row.shard for row in found) == list(range(4096))
    assert sum(row.alive for row in found) == 20
    assert {row.node for row in found if row.alive} == {"node-a"}
