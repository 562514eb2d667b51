"""Who owns the work: nobody, everybody, an owner that changes at the worst moment, one that cannot renew (R-01, R-02,
R-10, R-14, R-26).
"""

import asyncio
import contextlib
import random
import time
from datetime import timedelta

import pytest

from horae.domain.schedules.triggers import cron
from horae.domain.targets.targets import HttpTarget
from horae.runtime.clock import boottime
from horae.store.cells import Cell
from horae.store.store import Store
from tests.calm import seen_in_calm
from tests.catcher import percentile
from tests.engine.fleet import another, every_fire_has_one_row, kill, several, steady
from tests.engine.running import GRACE, running
from tests.steps import a_job, query, until
from tests.system.proxy import proxied

LONG = (pytest.mark.long, pytest.mark.timeout(3600))
TTL = timedelta(seconds=1)


def one_effect_each(catcher):
    assert set(catcher.effects.values()) == {1}


@pytest.mark.parametrize(
    ("nodes", "jobs", "period", "seconds"), [(3, 60, 1, 3), pytest.param(8, 5000, 60, 600, marks=LONG)]
)
async def test_when_everyone_believes_to_be_the_leader_each_fire_has_one_record_and_one_effect(
    ctx, store, cells, catcher, nodes, jobs, period, seconds
):
    await steady(ctx, store, catcher, jobs, period)
    expected = jobs * seconds / period
    async with several(cells, nodes, enforced=False) as believers:

        def tried():
            return [sum(post.dispatcher.done for post in node.runners.values()) for node in believers]

        await until(lambda: len(catcher.arrivals) >= expected and min(tried()) > 0, seconds + 60)
        arrived, tries = len(catcher.arrivals), sum(tried())  # at one moment: more arrive until all nodes have ended
    assert tries > arrived, "they tried to fire the same"
    assert await every_fire_has_one_row(store, jobs, period) >= expected
    one_effect_each(catcher)
    assert len(catcher.arrivals) == len(catcher.effects), "not even delivered twice"


@pytest.mark.parametrize(("jobs", "changes"), [(40, 2), pytest.param(50, 40, marks=LONG)])
async def test_an_owner_that_changes_around_the_full_second_misses_nothing(ctx, store, cells, catcher, jobs, changes):
    """All jobs fire at the full second; owners are stopped or killed within 150 ms of it."""
    chance = random.Random(2)
    clock = store.cells[0].clock
    for n in range(jobs):
        await a_job(ctx, f"j{n}", cron("* * * * * *"), target=HttpTarget(f"{catcher.url}/{n}"))
    async with contextlib.AsyncExitStack() as owners:
        owner = await owners.enter_async_context(another(cells, ttl=TTL))
        for number in range(changes):
            heir = await owners.enter_async_context(another(cells, ttl=TTL))
            second = clock.now().replace(microsecond=0) + timedelta(seconds=2)
            moment = second + timedelta(seconds=chance.uniform(-0.15, 0.15))
            await until(lambda moment=moment: clock.now() >= moment)
            await (kill(owner) if number % 2 else owner.stop(GRACE))
            await until(lambda second=second: _fired(store, jobs, second))
            owner = heir
    assert await every_fire_has_one_row(store, jobs) >= jobs * changes
    assert set(catcher.effects) == {arrival.idempotency_key for arrival in catcher.arrivals}


async def _fired(store, jobs, second):
    rows = await query(
        store,
        """select job_id from instance_history where fire_time = $1
           union select job_id from instance_live where fire_time = $1""",
        second,
    )
    return len(rows) == jobs


@pytest.mark.parametrize("rounds", [5, pytest.param(50, marks=LONG)])
async def test_nothing_is_sent_after_a_lease_that_cannot_be_renewed_has_run_out(ctx, store, cells, catcher, rounds):
    """The packets of two leases are dropped in each round, while all other connections of their node work."""
    jobs, sent_without = 100, []
    await steady(ctx, store, catcher, jobs)
    async with _behind_proxies(cells) as (node, proxies, sent):
        chance = random.Random(10)
        for _ in range(rounds):
            seen = len(catcher.arrivals)
            await until(lambda: all(node.leases.held_shards(cell) for cell in node.store.cells))
            await until(lambda seen=seen: len(catcher.arrivals) > seen)
            await asyncio.sleep(chance.random() * TTL.total_seconds() / 4)  # another moment of the heartbeat each time
            sent_without += await _cut_off(store, node, proxies, sent)
        await until(lambda: all(node.leases.held_shards(cell) for cell in node.store.cells))
    assert len(sent_without) == 2 * rounds
    assert sum(sent_without) > rounds, "they went on while their leases were good"
    await every_fire_has_one_row(store, jobs)
    one_effect_each(catcher)


@contextlib.asynccontextmanager
async def _behind_proxies(cells):
    """A node whose leases go through proxies and whose pools do not, with the tick of everything it sends."""
    async with contextlib.AsyncExitStack() as stack:
        proxies = [stack.enter_context(proxied(cell.dsn)) for cell in cells]
        store = await stack.enter_async_context(Store([Cell(cell.name, cell.dsn) for cell in cells]))
        for cell, proxy in zip(store.cells, proxies, strict=True):
            cell.dsn = proxy.dsn
        node = await stack.enter_async_context(running(store, ttl=TTL))
        sent = {cell.name: [boottime()] for cell in cells}
        for name, post in node.runners.items():
            post.flights.parts = post.flights.parts._replace(sender=Noting(node.sender, sent[name]))
        yield node, proxies, sent


class Noting:
    """A sender that notes the tick of every call."""

    def __init__(self, sender, ticks):
        self.sender, self.ticks = sender, ticks
        self.client = sender.client

    def push(self, *call):
        self.ticks.append(boottime())
        self.sender.push(*call)


async def _cut_off(store, node, proxies, sent):
    """Drop the leases' packets until they have run out; returns how much was sent in each cell meanwhile."""
    cut_at, ends = boottime(), {}
    for proxy in proxies:
        proxy.cut()

    def over():
        for cell in node.store.cells:
            ends[cell.name] = max(ends.get(cell.name, 0), node.leases.valid_until(cell))
        return boottime() > max(ends.values()) + 0.2  # fires are due all the time

    await until(over)
    terms = await query(
        store,
        "select (select name from cell) as cell, expires_at from node where incarnation = $1",
        node.identity.incarnation,
    )
    tick, now, many = boottime(), store.cells[0].clock.now(), []
    for name, expires_at in terms:
        last = max(sent[name])
        assert last <= ends[name]
        assert now - timedelta(seconds=tick - last) < expires_at, "before the database would let another one take over"
        many.append(sum(at > cut_at for at in sent[name]))
    for proxy in proxies:
        proxy.mend()
    return many


@pytest.mark.parametrize(("restarts", "jobs"), [(2, 60), pytest.param(50, 1000, marks=LONG)])
async def test_rolling_restarts_under_load_miss_nothing_double_nothing_and_delay_little(
    ctx, store, cells, catcher, restarts, jobs
):
    catcher.takes = 0.02
    await steady(ctx, store, catcher, jobs)
    async with contextlib.AsyncExitStack() as stack:
        nodes = [await stack.enter_async_context(another(cells, ttl=TTL)) for _ in range(4)]

        async def delays():
            first = len(catcher.arrivals)
            for number in range(restarts):
                await nodes[number % 4].stop(GRACE)
                nodes[number % 4] = await stack.enter_async_context(another(cells, ttl=TTL))
                seen = len(catcher.arrivals)
                await until(lambda seen=seen: len(catcher.arrivals) >= seen + jobs, 30)
            return [arrival.late_ms for arrival in catcher.arrivals[first:]]

        late_ms = await seen_in_calm(delays, delay_little)
        assert sum(post.settler.late for node in nodes for post in node.runners.values()) == 0
    assert await every_fire_has_one_row(store, jobs) >= restarts * jobs
    one_effect_each(catcher)
    assert len(catcher.arrivals) == len(catcher.effects)
    assert delay_little(late_ms), (max(late_ms), percentile(late_ms, 0.95))


def delay_little(late_ms):
    return max(late_ms) <= 5000 and percentile(late_ms, 0.95) <= 2000


@pytest.mark.parametrize("seconds", [2, pytest.param(30, marks=LONG)])
async def test_a_blocked_loop_and_an_exhausted_pool_cost_no_lease_and_double_nothing(
    ctx, store, cells, catcher, seconds
):
    jobs = 40
    await steady(ctx, store, catcher, jobs)
    async with another(cells, ttl=TTL) as rival, another(cells, ttl=TTL) as node:
        await until(lambda: len(catcher.arrivals) >= jobs)
        before = await query(store, "select shard_id, owner, epoch from shard where state = 'ACTIVE'")
        assert {row["owner"] for row in before} == {node.identity.incarnation, rival.identity.incarnation}
        async with contextlib.AsyncExitStack() as taken:
            for cell in node.store.cells:
                for _ in range(cell.pool.get_max_size()):
                    await taken.enter_async_context(cell.pool.acquire())
            time.sleep(seconds)
            assert all(node.leases.alive(cell) for cell in node.store.cells), "renewed from a thread of its own"
        assert await query(store, "select shard_id, owner, epoch from shard where state = 'ACTIVE'") == before
        seen = len(catcher.arrivals)
        await until(lambda: len(catcher.arrivals) >= seen + 2 * jobs, 30)
    await every_fire_has_one_row(store, jobs)
    one_effect_each(catcher)
