"""Everybody at the same second (R-07): who goes first, how a window spreads them, and where lateness shows."""

from collections import Counter, defaultdict
from datetime import timedelta

import pytest

from horae.domain.health.signals import BOUNDS_MS, bucket_of
from horae.domain.ids import Prefix, private, shard_in
from horae.domain.instances.instances import Priority
from horae.domain.schedules import Policies, Spread
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.service.context import PlatformContext
from horae.service.health import lateness
from horae.store.events import feeds
from tests.nodes import node_in
from tests.steps import Looker, a_job, amid, move_clock, query

SLOTS = 20
TTL = timedelta(seconds=8)
FIRES = "select due_at, fire_time, job_id from instance_live"
ENDED = "select due_at, trigger_delay_ms from instance_history where trigger_delay_ms is not null"


@pytest.fixture
async def at(store):
    """The second at which everybody is due."""
    await amid(store, 60)
    return store.cells[0].clock.now().replace(microsecond=0) + timedelta(seconds=30)


async def crowd(ctx, many, at, path, **facts):
    for number in range(many):
        await a_job(ctx, f"{path}-{number}", IntervalTrigger(3600, at), **facts)


async def drain(store):
    node = node_in(store, "n", TTL, slots=SLOTS)
    await node.drain()
    await node.leave()


async def test_in_a_herd_critical_jobs_go_first_and_low_ones_last_but_not_never(ctx, store, catcher, at):
    many = {Priority.LOW: 100, Priority.NORMAL: 200, Priority.CRITICAL: 100}
    for priority, number in many.items():  # critical ones are the newest rows, behind all others
        target = HttpTarget(f"{catcher.url}/{priority.name}")
        await crowd(ctx, number, at, priority.name, target=target, priority=priority)
    await move_clock(store, seconds=(at - store.cells[0].clock.now()).total_seconds() + 0.5)
    await drain(store)
    orders = defaultdict(list)  # cells are drained one after the other
    for arrival in catcher.arrivals:
        cell = store.cell(shard_in(private(Prefix.INSTANCE, arrival.instance)))
        orders[cell.name].append(Priority[arrival.path.strip("/")])
    assert sum(map(Counter, orders.values()), Counter()) == many
    for order in orders.values():
        whole, until_critical, until_normal = (
            Counter(order[:end]) for end in (len(order), last(order, Priority.CRITICAL), last(order, Priority.NORMAL))
        )
        assert until_critical[Priority.NORMAL] <= whole[Priority.NORMAL] / 2
        assert until_critical[Priority.LOW] <= whole[Priority.LOW] / 3
        assert 0 < until_normal[Priority.LOW] <= whole[Priority.LOW] * 3 / 4


def last(order, priority):
    """Where the last of a priority has arrived."""
    return len(order) - order[::-1].index(priority)


async def test_a_window_moves_each_job_by_its_own_part_and_always_by_the_same(ctx, store, at):
    await crowd(ctx, 120, at, "spread", policies=Policies(spread=Spread(window=60)))
    await crowd(ctx, 20, at, "exact")
    parts = []
    for hour in range(2):
        due = at + timedelta(hours=hour, seconds=1)
        await move_clock(store, seconds=(due - store.cells[0].clock.now()).total_seconds())
        for cell in store.cells:
            await Looker(store, cell).once()
        fires = await query(store, FIRES)
        assert {row["fire_time"] for row in fires} == {at + timedelta(hours=hour)}, "its name stays"
        parts.append({row["job_id"]: row["due_at"] - row["fire_time"] for row in fires})
        await query(store, "delete from instance_live")
    assert parts[0] == parts[1], "a job keeps its part"
    assert all(timedelta(0) <= part < timedelta(seconds=60) for part in parts[0].values())
    seconds = Counter(part // timedelta(seconds=1) for part in parts[0].values() if part)
    assert sum(seconds.values()) == 120
    assert max(seconds.values()) <= 12, "no second has a herd of its own"
    assert len(seconds) >= 40
    assert sum(not part for part in parts[0].values()) == 20, "whoever did not ask is where it was"


async def test_lateness_is_told_for_each_second_of_the_minute(ctx, store, catcher, at):
    for offset, number in {0: 30, 7: 5}.items():
        due = at + timedelta(seconds=offset)
        await crowd(ctx, number, due, f"at-{offset}", target=HttpTarget(catcher.url))
    for cell in store.cells:
        async with cell.statement() as tx:
            await feeds.mark(tx)
    await move_clock(store, seconds=(at - store.cells[0].clock.now()).total_seconds() + 9)
    await drain(store)
    delays = defaultdict(list)
    for row in await query(store, ENDED):
        delays[row["due_at"].second].append(row["trigger_delay_ms"])
    told = await lateness.by_second(PlatformContext(store, "test"), timedelta(minutes=10))
    assert told.cells_down == []
    assert {one.second: one.fires for one in told.seconds} == {at.second: 30, (at.second + 7) % 60: 5}
    for one in told.seconds:
        place = bucket_of(sorted(delays[one.second])[int(0.95 * (one.fires - 1))])
        assert ([0, *BOUNDS_MS])[place] <= one.p95_ms <= BOUNDS_MS[min(place + 1, len(BOUNDS_MS) - 1)]
    first, second = sorted(told.seconds, key=lambda one: -one.fires)
    assert first.p95_ms > second.p95_ms, "who was due sooner is later"
    assert (await lateness.by_second(PlatformContext(store, "test"), timedelta(0))).seconds == []
