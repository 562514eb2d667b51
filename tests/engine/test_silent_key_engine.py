"""A key engine that accepts connections and never answers holds up only those who need it."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise

import pytest

from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.auth import BearerAuth
from horae.domain.targets.targets import HttpTarget
from horae.repositories.secret_book import SecretBook
from horae.service.context import Context, PlatformContext
from horae.service.encryption import secrets
from horae.service.tenants import tenants
from horae.store.store import Store
from tests.calm import seen_in_calm
from tests.delivery.transit import key_engine
from tests.engine.running import GRACE, TTL
from tests.engine.test_definitions import sealed_by
from tests.nodes import node_in
from tests.steps import a_job, query, until
from tests.system.proxy import proxied

NEEDING = 12
"""Tenants whose data keys the node does not have: each was a wait of five seconds."""
SILENCE_S = 12.0
MAX_GAP_S = 4.0


async def a_tenant(store, name):
    return Context.of(store, await tenants.create(PlatformContext(store, "test"), name, width=64), "test")


@asynccontextmanager
async def a_node(cells, url):
    """A node that reaches its key engine by this address."""
    async with Store.of(cells) as own, sealed_by(own, url):
        book = SecretBook(own)
        node = node_in(own, "n", TTL, secrets=book)
        await node.start()
        try:
            yield node
        finally:
            await node.stop(GRACE)


def gap_s(arrivals, since):
    """The longest time between two calls, from a moment until now."""
    times = [since, *sorted(one.began for one in arrivals if one.began > since), asyncio.get_running_loop().time()]
    return max(later - before for before, later in pairwise(times))


@pytest.mark.timeout(240)
async def test_a_silent_key_engine_holds_up_only_fires_that_need_it(store, cells, catcher):
    with key_engine() as engine, proxied(engine.url.replace("http://", "http://x@")) as proxy:
        start = store.cells[0].clock.now().replace(microsecond=0) + timedelta(seconds=1)

        async def fires_each_second(ctx, path, **facts):
            target = HttpTarget(f"{catcher.url}/{path}", **facts.pop("target", {}))
            return await a_job(ctx, path, IntervalTrigger(1, start), target=target, **facts)

        def calls(path):
            return [one for one in catcher.arrivals if one.path.endswith(path)]

        async with sealed_by(store, engine.url):
            await fires_each_second(await a_tenant(store, "plain"), "plain")
            await fires_each_second(await a_tenant(store, "known"), "known", payload={"n": 1})
            async with a_node(cells, f"http://127.0.0.1:{proxy.ports[0]}"):
                await until(lambda: len(calls("plain")) > 1 and len(calls("known")) > 1)
                proxy.cut()
                for n in range(NEEDING):
                    ctx = await a_tenant(store, f"needs{n}")
                    await secrets.put(ctx, "token", "s3cret")
                    await fires_each_second(ctx, f"needs{n}", payload={"n": n}, target={"auth": BearerAuth("token")})

                async def longest_gap_s():
                    began = asyncio.get_running_loop().time()
                    await asyncio.sleep(SILENCE_S)
                    return max(gap_s(calls(path), began) for path in ("plain", "known"))

                assert await seen_in_calm(longest_gap_s, lambda gap: gap < MAX_GAP_S) < MAX_GAP_S
                assert not any(calls(f"needs{n}") for n in range(NEEDING))
                waiting = await query(store, "select error_msg from instance_live where attempt > 0 and token is null")
                assert waiting
                assert all(row["error_msg"] for row in waiting)
                proxy.mend()
                await until(lambda: all(calls(f"needs{n}") for n in range(NEEDING)), 60)
