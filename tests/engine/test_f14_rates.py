"""F14: a rate counts when a call leaves, so no more leave than was promised, whatever the database does.

It was counted when a call was admitted, and all that had waited for a claim left at once: three times the rate in a
second after a stall.
"""

import asyncio
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from datetime import timedelta
from itertools import count
from urllib.parse import urlsplit

import pytest

from horae.domain.limits.limits import Limit
from horae.domain.targets.targets import HttpTarget
from horae.runtime.settings import CellSettings
from horae.service.tasks import tasks
from horae.store.store import Store
from horae.upkeep.copies import Copier
from tests.calm import seen_in_calm
from tests.engine.fleet import kill
from tests.engine.running import ended, running
from tests.engine.windows import WatchedClient, above_rate, allowed, most_in, rate_seen
from tests.steps import a_type, until
from tests.system.proxy import proxied

RATE = 40
USED = 0.95
"""The part of a rate that is used while more waits."""
LIMIT = Limit(rate=RATE)
TTL = timedelta(seconds=8)


async def crowd(ctx, store, catcher, many, by="job", name="T"):
    """A type with a rate, and so many tasks of it that are due now."""
    rated = {"limit": LIMIT} if by == "job" else {}
    await a_type(ctx, name, target=HttpTarget(catcher.url, rate=RATE if by == "target" else None), **rated)
    await Copier(store).once()
    for n in range(many):
        await tasks.schedule(ctx, name, str(n))


@asynccontextmanager
async def three(cells, departures):
    """Three nodes that share the shards of both cells, and the list of the calls that left."""
    async with AsyncExitStack() as held:
        nodes = []
        for _ in range(3):
            own = await held.enter_async_context(Store.of(cells))
            client = WatchedClient(own, departures)
            nodes.append(await held.enter_async_context(running(own, ttl=TTL, client=client)))
        await until(
            lambda: all(len(node.leases.held_shards(cell)) > 500 for node in nodes for cell in node.store.cells), 60
        )
        yield nodes


def kept(departures, catcher):
    assert len(catcher.arrivals) <= len(departures), "each call was seen when it left"
    assert above_rate(departures, LIMIT) <= 0
    assert most_in(departures, 1) <= 1.25 * RATE + allowed(departures, RATE)


def behind(cells, proxy):
    """The cells, through the proxy."""
    netloc = f"{urlsplit(cells[0].dsn).username}@127.0.0.1:{proxy.ports[0]}"
    return [CellSettings(name=cell.name, dsn=urlsplit(cell.dsn)._replace(netloc=netloc).geturl()) for cell in cells]


@pytest.mark.parametrize("by", [pytest.param("job", marks=pytest.mark.long), "target"])
async def test_three_nodes_keep_a_rate_in_every_window_and_use_all_of_it(ctx, store, cells, catcher, by):
    departures = []
    async with three(cells, departures):
        rounds = count(1)

        async def seen():
            catcher.arrivals.clear()
            departures.clear()
            number = next(rounds)
            await crowd(ctx, store, catcher, 600, by, f"T{number}")
            await until(lambda: ended(store, number * 600), 60)
            kept(departures, catcher)
            return rate_seen(departures, 1.0)

        assert await seen_in_calm(seen, lambda rate: rate >= USED * RATE) >= USED * RATE


@pytest.mark.long
async def test_a_rate_is_kept_when_each_statement_takes_a_fifth_of_a_second(ctx, store, cells, catcher):
    departures = []
    with ExitStack() as held:
        proxy = held.enter_context(proxied(cells[0].dsn))
        async with three(behind(cells, proxy), departures):
            proxy.slow(0.1)
            await crowd(ctx, store, catcher, 200)
            await until(lambda: len(catcher.arrivals) >= 200, 60)
            proxy.mend()
            await until(lambda: ended(store, 200), 60)
    kept(departures, catcher)


async def test_a_rate_is_kept_when_a_node_is_killed(ctx, store, cells, catcher):
    departures = []
    async with three(cells, departures) as nodes:
        await crowd(ctx, store, catcher, 300)
        await until(lambda: len(catcher.arrivals) > 2 * RATE)
        await kill(nodes[0])
        await until(lambda: ended(store, 300), 60)
    kept(departures, catcher)


async def test_a_rate_is_kept_when_claims_had_to_wait_for_a_lock(ctx, store, cells, catcher):
    """Three times somebody holds a lock on the table of instances, as a change of it does."""
    departures = []
    async with three(cells, departures):
        await crowd(ctx, store, catcher, 300)
        for n in range(1, 4):
            await until(lambda n=n: len(catcher.arrivals) > n * 2 * RATE)
            await asyncio.gather(*(stall(cell, 2.5) for cell in store.cells))
        await until(lambda: ended(store, 300), 60)
    kept(departures, catcher)


async def stall(cell, seconds):
    async with cell.pool.acquire() as connection, connection.transaction():
        await connection.execute("lock table instance_live in exclusive mode")
        await connection.execute("select pg_sleep($1)", seconds)
