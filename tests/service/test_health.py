"""Signals are counted in memory, written once a minute, and read as health."""

from datetime import timedelta
from uuid import UUID

import asyncpg
import msgspec

from horae.delivery.client import Client
from horae.delivery.push import Sender
from horae.domain.instances import Lane, Priority
from horae.domain.outcomes import ErrorCode, Retryable, Success, Unrecoverable
from horae.domain.signals import Mode, percentile_ms
from horae.domain.targets import HttpTarget, QueueTarget
from horae.engine.node import Node
from horae.runtime.chance import token
from horae.service import health, instances, tenants, workers
from horae.service.context import Context
from horae.store import leases
from horae.store.tally import Tally
from horae.upkeep.signals import KEPT, Signaller
from tests.catcher import catching
from tests.egress import ANYWHERE
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
        node = Node(store, "n", TTL, Sender(Client(ANYWHERE)))
        await move_clock(store, seconds=1.5)
        await node.drain()
        await Signaller(store, node.who.incarnation).once()
        await node.leave()
        told = await health.health(store)
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
    other = Context.of(store, await tenants.create(store, "other", "test", width=4096), "test")
    await a_job(ctx, "bad")
    await a_job(other, "good")
    await fired(ctx, store, "bad", 3, Retryable(ErrorCode.HTTP_5XX, "503"))
    await a_job(ctx, "dead")
    await fired(ctx, store, "dead", 2, Unrecoverable(ErrorCode.HTTP_4XX, "404"))
    await fired(other, store, "good", 5, Success())
    store.cells[0].tally.delayed(ctx.tenant.id, 1, 0, 4000)
    await Signaller(store, token()).once()
    mine, theirs = await health.health(store, ctx.tenant.id), await health.health(store, other.tenant.id)
    assert (mine.mode, mine.dlq_growth_per_min, mine.success_rate_10m) == ("DEGRADED", 2, 0.0)
    assert (theirs.mode, theirs.dlq_growth_per_min, theirs.success_rate_10m) == ("NORMAL", 0, 1.0)
    assert (await health.health(store)).success_rate_10m == 0.5


async def test_the_last_hours_are_told_in_stretches_for_their_tenant_alone(ctx, store):
    other = Context.of(store, await tenants.create(store, "other", "test", width=4096), "test")
    writers = token(), token()
    for minutes in (0, 0, 20, 20):
        await move_clock(store, seconds=minutes * 60)
        for writer in writers:
            for cell in store.cells:
                cell.tally.delayed(ctx.tenant.id, 1, 0, 3)
                cell.tally.delayed(other.tenant.id, 1, 0, 4000)
            await Signaller(store, writer).once()
    mine = await health.series(store, ctx.tenant.id, hours=1, points=6)
    assert (mine.step, len(mine.stretches), mine.cells_down) == (timedelta(minutes=10), 6, [])
    assert [one.counted.fires for one in mine.stretches] == [0, 8, 0, 4, 0, 4]
    everyone = await health.series(store, hours=1, points=60)
    assert sum(one.counted.fires for one in everyone.stretches) == 32
    assert everyone.stretches[-1].counted.fires == 8
    theirs = await health.series(store, other.tenant.id, hours=24, points=288)
    assert theirs.step * len(theirs.stretches) == timedelta(hours=24)
    assert percentile_ms(theirs.stretches[-1].counted.delays, 0.95) > 3000


async def test_one_node_of_a_cell_counts_what_waits_there(ctx, store):
    await a_job(ctx, "push")
    await a_job(ctx, "pull", target=QueueTarget("q"))
    for n in range(4):
        await instances.trigger(ctx, "push", str(n), even_if_down=True)
        await instances.trigger(ctx, "pull", str(n), even_if_down=True)
    for ran in (await claim_everywhere(store))[:3]:
        await settle(store, ran, Retryable(ErrorCode.HTTP_5XX, "503"))
    first, second = token(), token()
    for cell in store.cells:
        shards = store.shards_of(cell)
        for who, part in ((first, shards[: len(shards) // 2]), (second, shards[len(shards) // 2 :])):
            async with cell.tx() as tx:
                await leases.heartbeat(tx, who, "n", TTL)
                await leases.take(tx, who, part)
    for who in (second, first, token()):
        await Signaller(store, who).once()
    told = await health.health(store, ctx.tenant.id)
    assert (told.retry_backlog, told.backlog) == (3, 4), "four wait in the queue, one call is on its way"
    writers = {row["writer"] for row in await query(store, "select writer from signal where backlog is not null")}
    assert writers == {first}


async def test_what_workers_claim_is_counted_as_handed_over(ctx, store):
    await a_job(ctx, "pull", target=QueueTarget("q"))
    await instances.trigger(ctx, "pull", "k", even_if_down=True)
    await move_clock(store, seconds=3)
    assert len(await workers.claim(ctx, "q", "w")) == 1
    await Signaller(store, token()).once()
    assert (await health.health(store)).mode == "DEGRADED"


async def test_minutes_add_up_old_ones_go_and_too_many_tenants_are_nobodys(ctx, store):
    writer = token()
    for _ in range(2):
        for n in range(5):
            store.cells[0].tally.delayed(ctx.tenant.id, 1, 0, n)
        await Signaller(store, writer).once()
    rows = await query(store, "select delays from signal where delays <> '{}'")
    assert sum(sum(row["delays"]) for row in rows) == 10
    await move_clock(store, seconds=KEPT.total_seconds() + 120)
    await Signaller(store, writer).once()
    assert await query(store, "select * from signal where delays <> '{}'") == []
    tally = Tally()
    for n in range(1, 6):
        for _ in range(n):
            tally.delayed(UUID(int=n), 1, 0, 1)
    counts = tally.take(2)
    assert {key.tenant_id.int: sum(row) for key, row in counts.items()} == {5: 5, 4: 4, 0: 6}


async def test_a_cell_that_is_down_gets_its_counts_later_and_health_names_it(ctx, store):
    down, up = store.cells
    for cell in store.cells:
        cell.tally.delayed(ctx.tenant.id, 1, 0, 1)
    pool, down._pool = down._pool, None
    down._pool = await _closed_pool(down)
    try:
        await Signaller(store, token()).once()
        told = await health.health(store)
        assert (told.mode, told.cells_down, told.fires_10m) == (Mode.DEGRADED, (down.name,), 1)
    finally:
        down._pool = pool
    await Signaller(store, token()).once()
    assert (await health.health(store)).fires_10m == 2
    assert up.name not in told.cells_down


async def _closed_pool(cell):
    pool = await asyncpg.create_pool(cell.dsn, min_size=1, max_size=1)
    await pool.close()
    return pool


async def test_nodes_and_shards_are_listed_with_their_leases(ctx, store):
    who = token()
    for cell in store.cells:
        async with cell.tx() as tx:
            await leases.heartbeat(tx, who, "node-a", TTL)
            await leases.take(tx, who, store.shards_of(cell)[:10])
    told = await health.nodes(store)
    assert [(one.cell, [(node.name, node.alive, node.shards) for node in one.nodes]) for one in told] == [
        (cell.name, [("node-a", True, 10)]) for cell in store.cells
    ]
    found, after = [], -1
    while page := [row for part in await health.shards_of(store, after=after, limit=1000) for row in part.shards]:
        found += page
        after = max(row.shard for row in page)
    assert sorted(row.shard for row in found) == list(range(4096))
    assert sum(row.alive for row in found) == 20
    assert {row.node for row in found if row.alive} == {"node-a"}
