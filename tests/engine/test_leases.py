"""Leases: shared in runs, handed back at once, inherited in time, and given up before anyone else may take them."""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from uuid import UUID

import pytest

from horae.domain.placement import runs_of
from horae.engine.leases import Leases
from horae.engine.leases.keeper import NodeIdentity
from horae.runtime.clock import boottime
from horae.runtime.randomness import new_token
from horae.store.cells import Cell
from horae.store.databases.clock import vouch
from horae.store.nodes import leases as rows
from horae.store.store import Store
from tests.calm import seen_in_calm
from tests.steps import query, until
from tests.system.proxy import proxied

TTL = timedelta(seconds=0.8)
SECONDS = TTL.total_seconds()
PATIENT = timedelta(seconds=3)
"""A term that a thread which waits for a core does not miss, where the test would take its loss for a fault."""


class Nodes:
    """Several nodes in this process, each with its own memory of what it was told."""

    def __init__(self):
        self.all = []
        self.told = {}

    async def start(self, cells, ttl=TTL, **facts):
        told = []
        node = Leases(cells, NodeIdentity(new_token(), "same-host", ttl), lambda *change: told.append(change), **facts)
        self.all.append(node)
        self.told[node] = told
        await node.start()
        return node

    def kill(self, node):
        """As SIGKILL would: the thread ends, nothing is handed back."""
        self.all.remove(node)
        node._loop.call_soon_threadsafe(node._ended.set)
        node._thread.join()


@pytest.fixture
async def nodes():
    nodes = Nodes()
    yield nodes
    await asyncio.gather(*(node.stop() for node in nodes.all))


def shared_evenly(store, nodes):
    """Every shard is held by exactly one, and each holds one run of its fair length."""
    for cell in store.cells:
        held = [node.held_shards(cell) for node in nodes]
        fair = len(store.shards_of(cell)) / len(nodes)
        if sum(map(len, held)) != len(store.shards_of(cell)) or len(frozenset().union(*held)) != sum(map(len, held)):
            return False
        if any(abs(len(mine) - fair) > 1 or len(runs_of(mine, store.shards_of(cell))[0]) != 1 for mine in held):
            return False
    return True


def behind(proxy, store):
    """The first cell as seen through a proxy, with its clock."""
    cell = Cell(store.cells[0].name, proxy.dsn)
    cell.clock = store.cells[0].clock
    return cell


async def owners(store):
    found = await query(store, "select owner, count(*) as many from shard where state = 'ACTIVE' group by 1")
    counted = Counter()
    for row in found:
        counted[row["owner"]] += row["many"]
    return counted


async def living(cell):
    async with cell.statement() as tx:
        return {node.incarnation: node.draining for node in await rows.nodes(tx) if node.alive}


async def seen_after(cell, node, moment):
    [row] = await query(cell, "select seen_at from node where incarnation = $1", node.identity.incarnation)
    return row["seen_at"] > moment


async def owned(store, expected):
    return await owners(store) == expected


async def test_one_node_holds_everything_after_its_first_look(store, nodes):
    node = await nodes.start(
        store.cells, timedelta(seconds=8)
    )  # of a shorter term, a slow answer spoils the first look
    assert shared_evenly(store, [node])
    assert all(node.alive(cell) for cell in store.cells)
    await until(lambda: {change[0].name for change in nodes.told[node]} == {cell.name for cell in store.cells})


async def test_nodes_that_come_and_go_share_the_shards_in_equal_runs(store, nodes):
    for number in range(1, 5):
        await nodes.start(store.cells)
        await until(lambda: shared_evenly(store, nodes.all))
        assert len(nodes.all) == number
    gone = nodes.all.pop(1)
    await gone.stop()
    await until(lambda: shared_evenly(store, nodes.all))
    epochs = await query(store, "select max(epoch) as most from shard where state = 'ACTIVE'")
    assert all(row["most"] > 3 for row in epochs), "every change of owner raises it"


async def test_the_engine_hears_of_each_change_in_its_own_loop(store, nodes):
    one = await nodes.start(store.cells)
    two = await nodes.start(store.cells)
    await until(lambda: shared_evenly(store, [one, two]))

    def known(node, cell):
        held = set()
        for where, gained, lost in nodes.told[node]:
            if where is cell:
                held = held.difference(lost).union(gained)
        return held

    for cell in store.cells:
        await until(
            lambda cell=cell: known(one, cell) == one.held_shards(cell) and known(two, cell) == two.held_shards(cell)
        )


async def test_shards_are_handed_back_within_a_second(store, nodes):
    async def leave():
        node = await nodes.start(store.cells)
        began = time.monotonic()
        await node.leave()
        took_s = time.monotonic() - began
        assert await owners(store) == {None: 4096}
        nodes.all.remove(node)
        await node.stop()
        return took_s

    assert await seen_in_calm(leave, lambda took_s: took_s < 1) < 1


async def test_a_node_that_handed_its_shards_back_lives_on_for_what_is_in_flight(store, nodes):
    one = await nodes.start(store.cells)
    await one.leave()
    assert await owners(store) == {None: 4096}
    assert not any(one.alive(cell) or one.held_shards(cell) for cell in store.cells)
    other = await nodes.start(store.cells)
    await until(lambda: shared_evenly(store, [other]))  # a draining node is dealt nothing
    left_at = store.cells[0].clock.now()
    await until(lambda: seen_after(store.cells[0], one, left_at + TTL))
    assert await living(store.cells[0]) == {one.identity.incarnation: True, other.identity.incarnation: False}
    await one.stop()
    assert await living(store.cells[0]) == {other.identity.incarnation: False}


async def test_a_hanging_connection_does_not_keep_a_node_from_leaving(cells, nodes):
    async def leave_and_stop():
        with proxied(cells[0].dsn) as proxy:
            async with Store.of(cells) as store:
                node = await nodes.start([behind(proxy, store), store.cells[1]], timedelta(seconds=8))
                proxy.cut()
                began = time.monotonic()
                await node.leave()
                left_at = time.monotonic()
                assert (await owners(store))[None] >= len(store.shards_of(store.cells[1])), "the other cell's are free"
                stopping_at = time.monotonic()
                nodes.all.remove(node)
                await node.stop()
                assert not node._thread.is_alive()
                return left_at - began < 1, time.monotonic() - stopping_at < 2

    assert await seen_in_calm(leave_and_stop, all) == (True, True)


async def test_seed_002_example_4_a_dead_nodes_shards_are_inherited_soon_after_its_term(store, nodes):
    for _ in range(3):
        await nodes.start(store.cells)

    async def inherit():
        await until(lambda: shared_evenly(store, nodes.all))
        nodes.kill(nodes.all[0])
        took_s = await until(lambda: shared_evenly(store, nodes.all))
        assert took_s > SECONDS / 2, "not before its term has run out"
        await nodes.start(store.cells)
        return took_s

    assert await seen_in_calm(inherit, lambda took_s: took_s < SECONDS + 2) < SECONDS + 2


async def test_many_shards_are_inherited_in_portions(store, nodes):
    first = await nodes.start(store.cells)
    second = await nodes.start(store.cells, PATIENT)
    await until(lambda: shared_evenly(store, [first, second]))
    nodes.told[second].clear()
    nodes.kill(first)
    await until(lambda: shared_evenly(store, [second]))
    await until(lambda: sum(len(gained) for _, gained, _ in nodes.told[second]) == 2048)
    portions = [len(gained) for cell, gained, _ in nodes.told[second] if cell is store.cells[0]]
    assert portions == [256, 512, 256]


async def test_a_blocked_engine_keeps_its_lease(store, nodes):
    node = await nodes.start(store.cells, PATIENT)
    rival = await nodes.start(store.cells, PATIENT)
    await until(lambda: shared_evenly(store, [node, rival]))
    held = [node.held_shards(cell) for cell in store.cells]
    time.sleep(1.5 * PATIENT.total_seconds())
    assert [node.held_shards(cell) for cell in store.cells] == held
    assert node.valid_until(store.cells[0]) > boottime()


async def test_an_exhausted_pool_keeps_the_lease(store, nodes):
    node = await nodes.start(store.cells)
    async with contextlib.AsyncExitStack() as taken:
        for _ in range(10):
            await taken.enter_async_context(store.cells[0].pool.acquire())
        last = node.valid_until(store.cells[0])
        await until(lambda: node.valid_until(store.cells[0]) > last + SECONDS)


async def test_when_packets_are_dropped_a_lease_is_given_up_before_its_term_ends(cells, nodes):
    """Ten times out of ten: no node acts when the database would let another one take over."""
    async with Store.of(cells) as store:
        with contextlib.ExitStack() as stack:
            proxies = [stack.enter_context(proxied(cells[0].dsn)) for _ in range(10)]
            seen = [behind(proxy, store) for proxy in proxies]
            for cell in seen:
                await nodes.start([cell])
            for proxy in proxies:
                await asyncio.sleep(0.02)  # each at another moment of its heartbeat
                proxy.cut()
            valid = dict.fromkeys(nodes.all, 0.0)

            def look():
                for node, cell in zip(nodes.all, seen, strict=True):
                    valid[node] = max(valid[node], node.valid_until(cell))
                return not any(node.alive(cell) for node, cell in zip(nodes.all, seen, strict=True))

            await until(look)
            terms = {row[0]: row[1] for row in await query(store.cells[0], "select incarnation, expires_at from node")}
            clock = store.cells[0].clock
            for node, cell in zip(nodes.all, seen, strict=True):
                left = (terms[node.identity.incarnation] - clock.now()).total_seconds()
                assert valid[node] < boottime() + left
                assert node.held_shards(cell) == frozenset()


async def test_a_zombie_sees_that_its_shards_are_gone(cells, nodes):
    async with Store.of(cells) as store:
        with proxied(cells[0].dsn) as proxy:
            far = behind(proxy, store)
            zombie = await nodes.start([far])
            heir = await nodes.start(store.cells[:1])
            await until(lambda: len(zombie.held_shards(far)) == len(heir.held_shards(store.cells[0])) == 1024)
            proxy.cut()
            await until(lambda: len(heir.held_shards(store.cells[0])) == 2048)
            assert nodes.told[zombie][-1] == (far, [], nodes.told[zombie][-1][2])
            assert len(nodes.told[zombie][-1][2]) == 1024
            proxy.mend()
            await until(lambda: zombie.alive(far))
            both = zombie.held_shards(far) & heir.held_shards(store.cells[0])
            assert both == frozenset()
            await until(lambda: len(zombie.held_shards(far)) == len(heir.held_shards(store.cells[0])) == 1024)


async def test_processes_of_the_same_host_are_distinct_and_one_that_is_killed_is_inherited_from(store, cells):
    words = [sys.executable, "-m", "tests.engine.leaseholder", str(SECONDS), *(cell.dsn for cell in cells)]
    with contextlib.ExitStack() as stack:
        both = [
            stack.enter_context(subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            for _ in range(2)
        ]
        one, two = (UUID(process.stdout.readline().strip()) for process in both)
        assert one != two
        await until(lambda: owned(store, {one: 2048, two: 2048}))
        both[0].kill()
        await until(lambda: owned(store, {two: 4096}))
        both[1].stdin.close()
        assert both[1].wait(60) == 0
        assert await owners(store) == {None: 4096}


async def test_without_leases_everyone_believes_to_own_everything(store, nodes):
    for _ in range(2):
        await nodes.start(store.cells, enforced=False)
    for node in nodes.all:
        for cell in store.cells:
            assert node.held_shards(cell) == frozenset(store.shards_of(cell))
    assert await owners(store) == {None: 4096}


async def test_a_shard_that_nobody_comes_for_is_adopted_after_a_while(store, nodes):
    """A node that lives but takes nothing leaves its part to the others."""
    cell = store.cells[0]
    node = await nodes.start([cell])
    lazy = new_token()

    async def live():
        while True:
            async with cell.statement() as tx:
                await rows.heartbeat(tx, lazy, "lazy", TTL)
            await asyncio.sleep(SECONDS / 8)

    living = asyncio.create_task(live())
    try:
        await until(lambda: len(node.held_shards(cell)) == 1024)
        took = await until(lambda: len(node.held_shards(cell)) == 2048)
        assert took > SECONDS * 0.8
    finally:
        living.cancel()


async def test_a_node_that_died_while_the_database_was_ahead_is_inherited_from_when_the_clock_is_right(store, nodes):
    cell, dead = store.cells[0], new_token()
    async with cell.tx() as tx:
        await rows.heartbeat(tx, dead, "dead", TTL)
        await rows.take(tx, dead, store.shards_of(cell))
        await tx.run("update node set seen_at = seen_at + '8 h', expires_at = expires_at + '8 h'")
    node = await nodes.start(store.cells)
    await until(lambda: len(node.held_shards(cell)) == 2048)


async def test_a_clock_that_jumped_is_trusted_again_when_a_person_says_so(store, nodes):
    await nodes.start(store.cells)
    cell = store.cells[0]
    clock = cell.clock
    real = clock._reading
    clock._reading = real._replace(base=real.base - timedelta(hours=8))
    await until(lambda: not clock.trusted)
    async with cell.statement() as tx:
        await vouch(tx)
    await until(lambda: clock.trusted)
