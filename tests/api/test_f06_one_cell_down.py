"""F6: with one of two cells down, whoever lives in the other reads all that is theirs; lists name what is missing.

The routes are those of the document: one that is added is walked over, too.
"""

from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
import pytest

from horae.api import gate
from horae.api.app import AppParts
from horae.boot.api_server import app_of
from horae.boot.senders import sender_of
from horae.domain.events.channels import Broker
from horae.domain.placement import home_of
from horae.runtime.meter import Rate
from horae.service.identity.callers import Callers
from horae.service.targets.trials import Trials
from horae.service.workers.polls import Polls
from horae.store.connections import deadlines
from horae.store.store import Store
from horae.upkeep.copies import Copier
from horae.upkeep.identities import IdentityCopier
from tests.api.calls import CALLS
from tests.api.world import a_world, asking, own_shards
from tests.cell_down import WEATHERS, a_tenant_in, first_behind, mended_proxy
from tests.keyring import sealed
from tests.steps import until

pytestmark = pytest.mark.timeout(240)
NOT_OF_A_TENANT = {"/metrics", "/api/v1/tenants", "/api/v1/nodes", "/api/v1/shards", "/api/v1/shard-moves"}
NOT_OF_A_TENANT |= {"/api/v1/drills", "/api/v1/incidents", "/api/v1/incidents/{incident}", "/api/v1/measures"}
NOT_OF_A_TENANT |= {"/api/v1/audit/chain", "/api/v1/scheduler/growth", "/api/v1/scheduler/lateness"}
NOT_OF_A_TENANT |= {"/api/v1/tenant-usage"}
"""For the platform's own keys: walked over with one."""
OF_ANY_TENANT = "/api/v1/tenants/"


@pytest.fixture
def proxy(cells, monkeypatch):
    monkeypatch.setattr(deadlines, "ANSWER_TIMEOUT_S", 3.0)
    with mended_proxy(cells) as proxy:
        yield proxy


@asynccontextmanager
async def an_app(cells, proxy, settings, monkeypatch):
    """An application whose first cell is reached by the proxy, with callers that it remembers for long."""
    monkeypatch.setattr(gate, "FAILURE_RATE", Rate(1e9, 1e9))
    free = settings.model_copy(update={"api_rate": 1e9, "api_burst": 1e9})
    async with AsyncExitStack() as held:
        own = sealed(await held.enter_async_context(Store.of(first_behind(cells, proxy))))
        own.brokers = {"main": Broker("kafka", ("*",))}
        trials = Trials(await sender_of(settings, own))
        held.push_async_callback(trials.close)
        yield app_of(free, own, Callers(own, remembered=600.0), AppParts(trials, Polls(own)))


def name_in(store, cell, stem):
    """The name of a tenant that will be at home in a cell."""
    return next(f"{stem}{n}" for n in range(100) if store.cell(home_of(f"{stem}{n}")) is cell)


async def carried(store):
    """As after two seconds: every copy has arrived."""
    await Copier(store).once()
    await IdentityCopier(store).once()


def reads(app):
    """Every GET of the document."""
    return [path for path, methods in app.openapi()["paths"].items() if "get" in methods]


async def walk(client, paths, world):
    """What each route answers."""
    found = {}
    for path in paths:
        call = CALLS[f"GET {path}"](world)
        found[path] = await client.get(path.format(**call.path), params=call.query)
    return found


def statuses(answers):
    return {path: answer.status_code for path, answer in answers.items()}


async def _is_degraded(client):
    return (await client.get("/readyz")).json()["degraded"]


@pytest.mark.parametrize("weather", WEATHERS)
async def test_a_tenant_of_a_healthy_cell_reads_all_that_is_its_own(
    cells, store, proxy, settings, monkeypatch, weather
):
    await own_shards(store)
    async with an_app(cells, proxy, settings, monkeypatch) as app:
        world = await a_world(app, store, name_in(store, store.cells[1], "acme"), width=1)
        await carried(store)
        paths = [path for path in reads(app) if path not in NOT_OF_A_TENANT and not path.startswith(OF_ANY_TENANT)]
        assert len(paths) > 40
        async with asking(app, world.text) as client:
            well = await walk(client, paths, world)
            assert {path: status for path, status in statuses(well).items() if status != 200} == {}
            getattr(proxy, weather)()
            down = await walk(client, paths, world)
            assert {path: answer.text for path, answer in down.items() if answer.status_code != 200} == {}
            await until(lambda: _is_degraded(client), 30)  # what it said a moment ago is remembered
            named = {path for path, answer in well.items() if _is_page(answer) and answer.json()["cells_down"]}
            assert named == set()
            for path in ("/api/v1/jobs", "/api/v1/instances", "/api/v1/dead-letters", "/api/v1/audit", "/api/v1/holds"):
                assert down[path].json()["cells_down"] == ["cell-0"], path
                assert len(down[path].json()["items"]) >= 1, path
                assert down[path].headers["Horae-Cells-Down"] == "cell-0", path


@pytest.mark.parametrize("weather", WEATHERS)
async def test_a_spread_tenants_lists_name_the_missing_cell_and_all_else_is_503(
    cells, store, proxy, settings, monkeypatch, weather
):
    await own_shards(store)
    async with an_app(cells, proxy, settings, monkeypatch) as app:
        world = await a_world(app, store, name_in(store, store.cells[1], "globex"), width=4096)
        await carried(store)
        paths = [path for path in reads(app) if path not in NOT_OF_A_TENANT and not path.startswith(OF_ANY_TENANT)]
        async with asking(app, world.text) as client:
            getattr(proxy, weather)()
            down = await walk(client, paths, world)
    lists = {path for path in paths if "{" not in path}
    assert {path: status for path, status in statuses(down).items() if path in lists and status != 200} == {}
    for path, answer in down.items():
        assert answer.status_code in {200, 503}, (path, answer.text)
        assert answer.status_code == 200 or answer.json()["code"].startswith("SCH_503_"), path


@pytest.mark.parametrize("weather", WEATHERS)
async def test_the_platform_reads_what_there_is_of_all_tenants(cells, store, proxy, settings, monkeypatch, weather):
    await own_shards(store)
    async with an_app(cells, proxy, settings, monkeypatch) as app:
        world = await a_world(app, store, "system", width=1)
        world = world._replace(victim=(await a_tenant_in(store, store.cells[1], "here")).name)
        await carried(store)
        paths = [path for path in reads(app) if path in NOT_OF_A_TENANT or path.startswith(OF_ANY_TENANT)]
        async with asking(app, world.text) as client:
            well = await walk(client, paths, world)
            getattr(proxy, weather)()
            down = await walk(client, paths, world)
    assert set(statuses(well).values()) == {200}
    assert {path: status for path, status in statuses(down).items() if status != 200} == {}
    assert len(down["/api/v1/tenants"].json()["items"]) < len(well["/api/v1/tenants"].json()["items"])
    assert down["/api/v1/tenants"].json()["cells_down"] == down["/api/v1/nodes"].json()["cells_down"] == ["cell-0"]
    assert len(down["/api/v1/audit/chain"].json()) == 1
    for path in ("/api/v1/shards", "/api/v1/audit/chain"):
        assert down[path].headers["Horae-Cells-Down"] == "cell-0"


async def test_lists_are_whole_again_as_soon_as_the_cell_answers(cells, store, proxy, settings, monkeypatch):
    async with an_app(cells, proxy, settings, monkeypatch) as app:
        world = await a_world(app, store, name_in(store, store.cells[1], "acme"), width=4096)
        async with asking(app, world.text) as client:

            async def jobs():
                answer = await client.get("/api/v1/jobs")
                return answer.status_code, [job["name"] for job in answer.json().get("items", ())]

            status, whole = await jobs()
            proxy.refuse()
            assert (await jobs())[0] == 200
            assert set((await jobs())[1]) < set(whole)
            proxy.mend()
            assert await jobs() == (status, whole)


def _is_page(answer: httpx2.Response) -> bool:
    if answer.headers["Content-Type"].startswith("text/event-stream"):  # the tail of a log
        return False
    return isinstance(answer.json(), dict) and {"items", "next"} <= answer.json().keys()
