"""Limits as the receiver sees them: schedules go on under them, and several nodes together keep them."""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta

from horae.domain.limits.limits import Limit
from horae.domain.schedules.triggers import DelayTrigger, IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.domain.tenants.tenants import Allowance
from horae.service.context import PlatformContext
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.store.store import Store
from horae.upkeep.copies import Copier
from tests.calm import calm
from tests.catcher import most_at_once, percentile
from tests.engine.running import TTL, ended, running
from tests.engine.windows import WatchedClient, above_rate
from tests.nodes import node_in
from tests.steps import a_job, a_type, move_clock, query, until


async def test_a_capped_tenants_schedules_go_on_and_what_waits_says_so(ctx, store, catcher):
    """Fifty fires a second, five of them allowed."""
    limit = Limit(rate=5)
    await tenants.allow(PlatformContext(store, "test"), "acme", Allowance(limit=limit))
    await Copier(store).once()
    start = store.cells[0].clock.now().replace(microsecond=0) + timedelta(minutes=1)
    for n in range(50):
        trigger = IntervalTrigger(1, start + timedelta(milliseconds=20 * n))
        await a_job(ctx, f"j{n}", trigger, target=HttpTarget(catcher.url))
    await calm()
    await move_clock(store, seconds=(start - store.cells[0].clock.now()).total_seconds() - 2)  # no fire before the node
    departures = []
    async with running(store, client=WatchedClient(store, departures)):
        await until(lambda: store.cells[0].clock.now() > start + timedelta(seconds=8))
        [behind] = [min(row[0] for row in await query(store, "select min(next_fire_at) from job_cursor"))]
        assert store.cells[0].clock.now() - behind < timedelta(seconds=4), "held for a moment, then recorded"
        waiting = await query(store, "select count(*) as many, max(attempt) as tried from instance_live")
        assert sum(row["many"] for row in waiting) > 100
        rows = await query(store, "select distinct state from instance_live")
        assert {row["state"] for row in rows} <= {"INIT", "RUNNING"}
    assert 30 <= len(catcher.arrivals) <= len(departures)
    assert above_rate(departures, limit) <= 0
    assert {arrival.attempt for arrival in catcher.arrivals} == {1}
    assert set(catcher.effects.values()) == {1}
    done = await query(store, "select held_ms, trigger_delay_ms from instance_history where state = 'SUCCESS'")
    assert max(row["held_ms"] for row in done) > 2000, "held at the limit, before and after it was recorded"
    assert percentile([row["trigger_delay_ms"] for row in done], 0.9) < 500, "which is not our delay"


async def test_three_nodes_together_keep_the_limits_of_tenant_job_target_and_quota(ctx, store, cells, catcher):
    catcher.takes, many = 0.1, 30
    rate, few = Limit(rate=10, burst=3), Limit(concurrency=3)
    whole = Limit(rate=60, burst=10, concurrency=12)
    await tenants.allow(
        PlatformContext(store, "test"), "acme", Allowance(limit=whole, quotas={"db": few, "mail": rate})
    )
    kinds = {
        "job-few": {"limit": few},
        "job-rate": {"limit": rate},
        "quota-few": {"quotas": ("db",)},
        "quota-too": {"quotas": ("db",)},
        "quota-rate": {"quotas": ("mail",)},
        "target-few": {"target": HttpTarget(f"{catcher.url}/target-few", max_concurrency=3)},
        "target-rate": {"target": HttpTarget(f"{catcher.url}/target-rate", rate=10)},
    }
    for kind, facts in kinds.items():
        await a_type(ctx, kind, **{"target": HttpTarget(f"{catcher.url}/{kind}")} | facts)
    await Copier(store).once()
    departures = []
    async with AsyncExitStack() as stack:
        stores = [await stack.enter_async_context(Store.of(cells)) for _ in range(3)]
        clients = [WatchedClient(own, departures) for own in stores]
        pairs = zip(stores, clients, strict=True)
        nodes = [await stack.enter_async_context(running(own, client=client)) for own, client in pairs]
        await until(lambda: all(_shared(cell, nodes) for cell in store.cells))
        await asyncio.gather(*(_burst(ctx, kind, many) for kind in kinds))
        await until(lambda: ended(store, many * len(kinds)), 40)
        assert all(client.connections for client in clients), "each of them sent some"
    assert most_at_once(catcher.arrivals) <= 12
    assert above_rate(departures, whole) <= 0
    assert most_at_once(catcher.of("/job-few")) <= 3
    assert most_at_once(catcher.of("/target-few")) <= 3
    assert most_at_once(catcher.of("/quota-few") + catcher.of("/quota-too")) <= 3
    for kind, limit in (("job-rate", rate), ("quota-rate", rate), ("target-rate", Limit(rate=10))):
        assert above_rate([departure for departure in departures if departure.path == f"/{kind}"], limit) <= 0
    assert set(catcher.effects.values()) == {1}


async def _burst(ctx, kind, many):
    for n in range(many):
        await tasks.schedule(ctx, kind, str(n))


def _shared(cell, nodes):
    return (
        all(node.leases.held_shards(cell) for node in nodes)
        and sum(len(node.leases.held_shards(cell)) for node in nodes) == 2048
    )


async def test_a_drain_waits_for_what_a_tenants_limit_holds_back(ctx, store, catcher):
    catcher.takes = 0.05
    await tenants.allow(PlatformContext(store, "test"), "acme", Allowance(limit=Limit(rate=20, burst=2, concurrency=2)))
    for n in range(8):
        await a_job(ctx, f"j{n}", DelayTrigger(0), target=HttpTarget(catcher.url))
    await Copier(store).once()
    node = node_in(store, "n", TTL)
    try:
        assert await node.drain() == 8
    finally:
        await node.leave()
    assert await ended(store, 8)
    assert set(catcher.effects.values()) == {1}
    assert most_at_once(catcher.arrivals) <= 2
