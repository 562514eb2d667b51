"""F6: a process starts with the cells that answer, and joins the others when they are back."""

import asyncio

import httpx2
import pytest

from horae.domain.tenants.tenants import SYSTEM
from horae.upkeep.copies import Copier
from horae.upkeep.identities import IdentityCopier
from tests.api.api_servers import Door
from tests.boot.api_thread import ApiThread
from tests.cell_down import WEATHERS, a_tenant_in, first_behind, mended_proxy
from tests.steps import query, until
from tests.system.children import Child

pytestmark = pytest.mark.timeout(240)
LONG = 60.0
HELD = "select count(*) as many from shard where state = 'ACTIVE' and owner is not null"


@pytest.fixture
def proxy(cells):
    with mended_proxy(cells) as proxy:
        yield proxy


async def held(cell):
    return (await query(cell, HELD))[0]["many"]


@pytest.mark.parametrize("weather", WEATHERS)
async def test_a_node_starts_with_the_cell_that_answers_and_joins_the_other(cells, store, proxy, started, weather):
    first, second = store.cells
    getattr(proxy, weather)()
    node = started(Child, first_behind(cells, proxy), "node", HORAE_LEASE_TTL="2")

    async def all_of_the_second():
        assert node.running, node.tail()
        return await held(second) == len(store.shards_of(second))

    await until(all_of_the_second, LONG)
    assert await held(first) == 0
    proxy.mend()

    async def all_of_the_first():
        assert node.running, node.tail()
        return await held(first) == len(store.shards_of(first))

    await until(all_of_the_first, LONG)
    assert "Traceback" not in node.log.read_text(), node.tail()


@pytest.mark.parametrize("weather", WEATHERS)
async def test_an_api_starts_with_the_cell_that_answers_and_joins_the_other(cells, store, proxy, started, weather):
    getattr(proxy, weather)()
    door = started(Door, first_behind(cells, proxy), "api", "--port", "0")
    await door.ready(LONG)
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{door.port}") as client:
        ready = await client.get("/readyz")
        assert (ready.status_code, ready.json()["degraded"]) == (200, True)
        assert [cell["shards"] for cell in ready.json()["cells"]] == [0, len(store.shards_of(store.cells[1]))]
        proxy.mend()

        async def whole():
            told = (await client.get("/readyz")).json()
            return not told["degraded"] and sum(cell["shards"] for cell in told["cells"]) == 4096

        await until(whole, LONG)
    assert "Traceback" not in door.log.read_text(), door.tail()


@pytest.mark.parametrize("words", [("node",), ("api", "--port", "0")], ids=["node", "api"])
async def test_a_process_is_refused_where_no_cell_answers(cells, proxy, started, words):
    proxy.refuse()
    [first, _] = first_behind(cells, proxy)
    child = started(Child, [first, first.model_copy(update={"name": "cell-1"})], *words)
    assert await child.ended(LONG) == 5
    assert "SCH_503_UNAVAILABLE" in child.tail()


async def test_a_list_on_the_command_line_shows_what_there_is_and_names_what_is_missing(cells, store, proxy, started):
    await a_tenant_in(store, store.cells[1], SYSTEM)
    api = ApiThread(first_behind(cells, proxy))
    try:
        key = await asyncio.to_thread(api.key, SYSTEM)
        access = {"HORAE_URL": api.url, "HORAE_KEY": key}
        for number, words in enumerate((("tenant", "list"), ("nodes",))):
            whole = started(Child, cells, *words, number=f"{number}-whole", **access)
            assert await whole.ended(LONG) == 0, whole.tail()
            assert "not reached" not in whole.tail()
        for copier in (IdentityCopier(store), Copier(store)):  # who asks is known to the other cell, too
            await copier.once()
        proxy.refuse()
        for number, words in enumerate((("tenant", "list"), ("nodes",))):
            listed = started(Child, cells, *words, number=f"{number}-part", **access)
            assert await listed.ended(LONG) == 0, listed.tail()
            assert "not reached: cell-0" in listed.tail()
    finally:
        await asyncio.to_thread(api.close)
