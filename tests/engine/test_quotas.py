"""Shared limits under a simulated load: three nodes, two cells, one limit that holds for all of them together."""

import asyncio
from bisect import bisect_left
from collections import Counter
from contextlib import asynccontextmanager
from datetime import timedelta
from random import randrange
from types import SimpleNamespace

import pytest

from horae.domain.limits.limits import Key, Limit
from horae.domain.placement import SHARDS
from horae.engine.quotas import Quotas
from horae.runtime.clock import boottime
from horae.runtime.loop import Loop
from horae.runtime.randomness import new_id, new_token
from horae.store.cells import Cell
from horae.store.store import Store
from tests.calm import seen_in_calm
from tests.steps import query, until
from tests.system.proxy import proxied

PAUSE = 0.02
MAX_ROUNDS = 60
"""Rounds of a node until it has a share of what another one used alone."""


class Fleet:
    """Nodes that run calls under shared limits, and a count of everything that went."""

    def __init__(self, store):
        self.store = store
        self.went = []
        self.running = Counter()
        self.most = Counter()
        self.rounds = Counter()
        self._tasks = []
        self._loops = {}

    def node(self, store=None, **facts):
        quotas = Quotas(store or self.store, new_token(), **facts)
        loop = self._loops[quotas] = Loop("quotas", Counted(quotas, self.rounds), PAUSE)
        self._tasks.append(asyncio.create_task(loop.run()))
        return quotas

    def work(self, quotas, key, limit, *, takes=0.005, callers=8):
        """So many callers that want to go as often as they may; `takes` seconds each."""

        async def call():
            while True:
                if quotas.take(key, limit):
                    self.went.append((await left(quotas, key, limit), key, quotas))
                    self.running[key] += 1
                    self.most[key] = max(self.most[key], self.running[key])
                    await asyncio.sleep(takes)
                    self.running[key] -= 1
                    quotas.give(key)
                else:
                    await asyncio.sleep(PAUSE)

        tasks = [asyncio.create_task(call()) for _ in range(callers)]
        self._tasks += tasks
        return tasks

    def by(self, key):
        return Counter(quotas for _, went, quotas in self.went if went == key)

    def stop(self, quotas):
        """As if killed: it renews nothing and gives nothing back."""
        self._loops.pop(quotas).stop()

    async def close(self):
        for loop in self._loops.values():
            loop.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for quotas in self._loops:
            await quotas.close()


class Counted:
    """A node's duty, and how often it was done."""

    def __init__(self, quotas, rounds):
        self._quotas, self._rounds = quotas, rounds

    async def once(self):
        self._rounds[self._quotas] += 1
        return await self._quotas.once()


async def left(quotas, key, limit):
    """As soon as a call that was taken may leave; returns the moment at which it left."""
    if limit.rate is None:
        return boottime()
    gone = asyncio.get_running_loop().create_future()
    quotas.pacer.leave(SimpleNamespace(paces=(key,)), lambda: 60.0, lambda: gone.set_result(boottime()))
    return await gone


@asynccontextmanager
async def working(store):
    fleet = Fleet(store)
    try:
        yield fleet
    finally:
        await fleet.close()


@pytest.fixture
def keys(store):
    """One key at home in each cell."""
    found = {}
    while len(found) < len(store.cells):
        key = Key(new_id(randrange(SHARDS), store.cells[0].clock.now()), "target/x")
        found.setdefault(store.cell(key.shard).name, key)
    return [found[cell.name] for cell in store.cells]


def windows_hold(times, limit):
    """Over any window: rate times its length and the burst."""
    for begin in times[:: max(1, len(times) // 50)]:
        for width in (0.1, 0.5, 1.0, 2.0):
            went = bisect_left(times, begin + width) - bisect_left(times, begin)
            assert went <= limit.rate * width + limit.most_at_once


async def test_three_nodes_in_two_cells_keep_one_rate_and_share_it(store, keys):
    """It is kept in every window, whatever the machine does. That it is used up is asked in a calm moment."""
    limit = Limit(rate=50, burst=5)

    async def use():
        async with working(store) as fleet:
            nodes = [fleet.node() for _ in range(3)]
            began = boottime()
            for key in keys:
                for quotas in nodes:
                    fleet.work(quotas, key, limit, callers=3)
            await until(lambda: boottime() - began > 3)
            ended = boottime()
        used, fair = [], []
        for key in keys:
            times = sorted(at for at, went, _ in fleet.went if went == key and at <= ended)
            windows_hold(times, limit)
            used.append(len(times) / (limit.rate * (ended - times[0])))
            fair.append(min(fleet.by(key)[quotas] for quotas in nodes) / (len(times) / 3))
        return min(used), min(fair)

    def is_used_and_shared(seen):
        return seen[0] >= 0.9 and seen[1] > 0.5

    seen = await seen_in_calm(use, is_used_and_shared)
    assert is_used_and_shared(seen), "from the first call on nearly all of it was used"


async def test_a_cap_holds_at_every_moment_and_everyone_gets_a_share(store, keys):
    async with working(store) as fleet:
        nodes = [fleet.node() for _ in range(3)]
        for key in keys:
            fleet.work(nodes[0], key, Limit(concurrency=7))
        await until(lambda: all(fleet.running[key] == 7 for key in keys))
        for key in keys:
            for quotas in nodes[1:]:
                fleet.work(quotas, key, Limit(concurrency=7))
        before = fleet.rounds.copy()
        await until(lambda: all(len(fleet.by(key)) == 3 for key in keys))
        rounds = max((fleet.rounds - before).values())
        assert rounds <= MAX_ROUNDS
        seen = len(fleet.went)
        await until(lambda: len(fleet.went) > seen + 600)
    for key in keys:
        assert fleet.most[key] == 7
        assert min(fleet.by(key).values()) > 30


async def test_one_permit_goes_round_among_three_nodes(store, keys):
    key = keys[0]
    async with working(store) as fleet:
        nodes = [fleet.node() for _ in range(3)]
        for quotas in nodes:
            fleet.work(quotas, key, Limit(concurrency=1), callers=3)
        await until(lambda: len(fleet.by(key)) == 3)
        before = fleet.by(key)
        await until(lambda: all(fleet.by(key)[quotas] > before[quotas] for quotas in nodes))
    assert fleet.most[key] == 1


async def test_a_dead_nodes_permits_come_back_when_its_hold_expires(store, keys):
    key, limit = keys[1], Limit(concurrency=2)
    async with working(store) as fleet:
        dead, heir = fleet.node(life=timedelta(seconds=1)), fleet.node()
        hanging = fleet.work(dead, key, limit, takes=60, callers=2)
        await until(lambda: fleet.running[key] == 2)
        fleet.stop(dead)
        for call in hanging:  # its calls end with it
            call.cancel()
        fleet.running[key] = 0
        held = "select expires_at from quota_hold where incarnation = $1"
        expires_at = []

        async def inherited():
            expires_at.extend(row["expires_at"] for row in await query(store, held, dead._incarnation))
            return fleet.running[key] == 2

        fleet.work(heir, key, limit)
        await until(inherited)
        [now] = await query(store.cells[1], "select clock_timestamp() as at")
        assert now["at"] > expires_at[-1], "not before its hold has expired"
        assert fleet.most[key] == 2


async def test_when_the_home_cannot_be_reached_a_slice_lasts_for_a_while_and_then_nothing_is_granted(cells):
    async with Store.of(cells) as real:
        with proxied(cells[0].dsn) as proxy:
            far = Cell(cells[0].name, proxy.dsn)
            far.clock = real.cells[0].clock
            store = Store([far, real.cells[1]])
            store._cell_of = [far] * SHARDS
            key = Key(new_id(1, far.clock.now()), "target/x")
            async with working(store) as fleet:
                quotas = fleet.node(life=timedelta(seconds=1))
                fleet.work(quotas, key, Limit(concurrency=3))
                await until(lambda: fleet.running[key] == 3)
                proxy.cut()
                cut = boottime()
                await until(lambda: boottime() - fleet.went[-1][0] > 0.5)
                assert 0 < fleet.went[-1][0] - cut < 1
                proxy.mend()
                seen = len(fleet.went)
                await until(lambda: len(fleet.went) > seen)


async def test_nothing_is_asked_when_nothing_is_wanted_and_what_is_left_goes_back(store, keys):
    key, limit = keys[0], Limit(rate=100, burst=100, concurrency=5)
    async with working(store) as fleet:
        quotas = fleet.node()
        await until(lambda: quotas.take(key, limit))
        await left(quotas, key, limit)
        quotas.give(key)
        await until(lambda: not quotas._slices)
        assert await query(store, "select * from quota_hold") == []
        [bucket] = await query(store, "select tokens from quota_bucket")
        assert bucket["tokens"] > 80
        assert await quotas.once() == 0


async def test_a_node_that_ends_gives_everything_back_at_once(store, keys):
    async with working(store) as fleet:
        quotas = fleet.node()
        for key in keys:
            await until(lambda key=key: quotas.take(key, Limit(concurrency=5)))
            quotas.give(key)
    assert await query(store, "select * from quota_hold") == []


async def test_without_any_limit_everything_goes(store, keys):
    quotas = Quotas(store, new_token())
    assert all(quotas.take(keys[0], Limit()) for _ in range(1000))
    assert await quotas.once() == 0


async def test_while_a_keys_shard_is_open_nowhere_the_others_are_still_asked_for(store, keys):
    limit = Limit(rate=10, concurrency=1)
    quotas = Quotas(store, new_token())
    assert [quotas.take(key, limit) for key in keys] == [False, False]
    store._cell_of[keys[0].shard] = None

    async def granted():
        await quotas.once()
        return quotas.take(keys[1], limit)

    await until(granted)
    assert not quotas.take(keys[0], limit)
    quotas.undo(keys[1])
    await quotas.close()
