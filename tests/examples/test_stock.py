"""Seed 003 as a business: every product is asked for in its window, once, and the other system is never flooded."""

import asyncio
import sys
from collections import Counter
from contextlib import AsyncExitStack
from datetime import timedelta
from itertools import pairwise
from typing import NamedTuple

import httpx2
import psycopg
import pytest

from horae.security.roles import Role
from horae.service.identity import api_keys
from tests.api.api_servers import open_doors
from tests.examples.shops import EXAMPLES, SECRET, own_database, some_nodes, web_service
from tests.steps import count_statements, query, until
from tests.store.walls import as_role

DOWN = 2.0
"""Seconds until a killed node is started again."""
ROLLING = """
    select coalesce(sum(calls), 0)::int as many from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database()) and query ~ '\\msubject\\M'
      and query !~ 'pg_stat_statements'
"""


class Size(NamedTuple):
    """How many products; the rhythm in seconds and calls a second; nodes, and when which of them are killed."""

    products: int
    window: float
    every: float
    rate: float
    nodes: int
    kills: tuple[float, ...]
    windows: float


SHORT = Size(products=600, window=8, every=4, rate=600, nodes=2, kills=(6,), windows=2.5)
LONG = Size(products=100_000, window=600, every=60, rate=600, nodes=3, kills=(200, 800), windows=1.85)


@pytest.fixture
async def shop(request, ctx, store, cells, cluster, tmp_path):
    """The shop with its products; gives its size, its DSN, its visitors' way in, the inventory's, and the nodes."""
    size: Size = request.param
    key = (await api_keys.create(ctx, "stock", [Role.ADMIN])).text
    await count_statements(store)
    with own_database(cluster, "stock") as dsn:
        with psycopg.connect(dsn) as business:
            business.execute((EXAMPLES / "stock" / "schema.sql").read_text())
            said = "insert into product (code, title) select 'p-' || n, 'P' from generate_series(1, %s) n"
            business.execute(said, (size.products,))
        async with AsyncExitStack() as stack:
            nodes = await stack.enter_async_context(some_nodes(size.nodes, cells, tmp_path))
            [door] = await stack.enter_async_context(open_doors(1, tmp_path, as_role(cells, "horae_api")))
            inventory = await stack.enter_async_context(web_service("stock.inventory", tmp_path, {}))
            env = {"STOCK_DSN": dsn, "STOCK_URL": "{url}", "STOCK_SECRET": SECRET, "INVENTORY_URL": inventory}
            env |= {f"STOCK_{name.upper()}": str(getattr(size, name)) for name in ("window", "every", "rate")}
            env |= {"HORAE_URL": f"http://127.0.0.1:{door.port}", "HORAE_KEY": key}
            url = await stack.enter_async_context(web_service("stock.web", tmp_path, env))
            people = await stack.enter_async_context(httpx2.AsyncClient(base_url=url, timeout=60))
            asked = await stack.enter_async_context(httpx2.AsyncClient(base_url=inventory, timeout=60))
            yield size, dsn, people, asked, nodes


def history(dsn):
    """When each product was refreshed, in order."""
    found = {}
    with psycopg.connect(dsn) as business:
        for code, at in business.execute("select code, at from stock_history order by code, at"):
            found.setdefault(code, []).append(at)
    return found


async def windows(dsn, store):
    """Seconds between the times at which the refreshes of a product were due, over all products."""
    asked = "select idem_key, due_at from instance_live union all select idem_key, due_at from instance_history"
    due = {row["idem_key"]: row["due_at"] for row in await query(store, asked)}
    times = {}
    with psycopg.connect(dsn) as business:
        for code, key in business.execute("select code, idem_key from stock_history"):
            times.setdefault(code, []).append(due[key])
    return [(after - before).total_seconds() for one in times.values() for before, after in pairwise(sorted(one))]


async def ends(store):
    """How refreshes ended, and why."""
    said = "select state, attempt, error_code, count(*)::int as many from instance_history group by 1, 2, 3"
    found = Counter[str]()
    for row in await query(store, said):
        found[f"{row['state']} {row['error_code'] or ''} at try {row['attempt']}"] += row["many"]
    return dict(found.most_common(9))


async def roll(shop, store):
    size, dsn, people, asked, nodes = shop
    with psycopg.connect(dsn, autocommit=True) as business:

        def never():
            return business.execute("select count(*) from product where counted_at is null").fetchone()[0]

        (await people.put("/products/new-one")).raise_for_status()
        took = await until(lambda: "new-one" in history(dsn), 60)  # at once, not at the next tick's turn
        (await people.delete("/products/p-1")).raise_for_status()
        begun = asyncio.get_running_loop().time()
        for number, after in enumerate(size.kills):
            await asyncio.sleep(max(0.0, begun + after - asyncio.get_running_loop().time()))
            nodes[number].kill()
            await nodes[number].ended()
            await asyncio.sleep(DOWN)
            nodes[number].start()
        await asyncio.sleep(max(0.0, begun + size.window * size.windows - asyncio.get_running_loop().time()))
        await until(lambda: never() == 0, 60)
    rate = (await asked.get("/rate")).json()
    seen = history(dsn)
    gaps = [(after - before).total_seconds() for times in seen.values() for before, after in pairwise(times)]
    refreshes = sum(len(times) for times in seen.values())
    statements = sum(row["many"] for row in await query(store, ROLLING))
    found = {
        "products": len(seen),
        "refreshes": refreshes,
        "of a product": dict(Counter(len(times) for times in seen.values())),
        "shortest and longest gap": (round(min(gaps), 2), round(max(gaps), 2)),
        "new one after": round(took, 2),
        "ends": await ends(store),
        "inventory": rate,
        "rolling statements per refresh": round(statements / refreshes, 3),
    }
    sys.stdout.write(f"{found}\n")
    assert len(seen) >= size.products, found
    assert min(await windows(dsn, store)) >= size.window - 0.05, "no product is refreshed twice in its window"
    assert rate["most_in_a_second"] <= size.rate, found
    assert len(seen.get("p-1", [])) <= 1, "sold no more, asked for no more"
    return found


@pytest.mark.timeout(300)
@pytest.mark.parametrize("shop", [SHORT], indirect=True, ids=["short"])
async def test_every_product_is_refreshed_once_in_its_window_and_the_inventory_is_not_flooded(shop, store):
    await roll(shop, store)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("shop", [LONG], indirect=True, ids=["long"])
async def test_a_hundred_thousand_products_are_refreshed_in_their_window(shop, store):
    found = await roll(shop, store)
    size = shop[0]
    longest = timedelta(seconds=size.window + 2 * size.every).total_seconds()
    assert found["shortest and longest gap"][1] <= longest, found
    assert found["rolling statements per refresh"] <= 0.1, found
