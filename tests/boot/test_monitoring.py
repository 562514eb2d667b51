"""Every process has a listener for probes and metrics, which answers also while its event loop stands still."""

from signal import SIGCONT, SIGSTOP

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from horae.domain.targets.targets import HttpTarget
from horae.service.jobs import jobs
from tests.api.api_servers import Door
from tests.catcher import catching
from tests.cell_down import WEATHERS, first_behind, mended_proxy
from tests.cluster import free_port
from tests.steps import a_job, every, query, until
from tests.system.children import Child

pytestmark = pytest.mark.timeout(240)
LONG = 60.0


class Probed:
    """A process with a listener."""

    def __init__(self, child, port):
        self.child, self.port = child, port
        self.client = httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20)

    async def get(self, path):
        """The answer; None while it does not listen yet."""
        assert self.child.running, self.child.tail()
        try:
            return await self.client.get(path)
        except httpx2.ConnectError:
            return None

    async def says(self, status, **facts):
        """Waits until readiness is as expected, and returns what it says then."""
        said = {}

        async def so():
            answer = await self.get("/readyz")
            if answer is None or answer.status_code != status or not facts.items() <= answer.json().items():
                return False
            said.update(answer.json())
            return True

        await until(so, LONG)
        return said

    async def metrics(self):
        """The samples of a scrape, by name and labels."""
        answer = await self.get("/metrics")
        assert answer.status_code == 200, answer.text
        return {
            (sample.name, *sorted(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }


@pytest.fixture
async def probed(started):
    """Starts `horae node` or `horae api` on these cells, with a listener."""
    made = []

    def start(word, cells, number="", **settings):
        port = free_port()
        told = {"HORAE_LEASE_TTL": "2", f"HORAE_{word.upper()}_MONITORING_PORT": str(port)} | settings
        kind, words = (Door, (word, "--port", "0")) if word == "api" else (Child, (word,))
        made.append(Probed(started(kind, cells, *words, number=number, **told), port))
        return made[-1]

    yield start
    for one in made:
        await one.client.aclose()


@pytest.fixture
async def catcher(store):
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher


@pytest.mark.parametrize("word", ["node", "api"])
async def test_a_process_is_alive_and_ready_and_has_metrics(cells, probed, word):
    process = probed(word, cells)
    said = await process.says(200, ready=True, degraded=False)
    assert said["cells"] == {cell.name: "ok" for cell in cells}
    assert (await process.get("/healthz")).json() == {"status": "ok"}
    found = await process.metrics()
    for cell in cells:
        assert found["horae_cell_up", ("cell", cell.name)] == 1
    assert found["process_open_fds",] > 0
    assert (await process.get("/elsewhere")).status_code == 404


@pytest.mark.parametrize("weather", WEATHERS)
@pytest.mark.parametrize("word", ["node", "api"])
async def test_one_of_two_cells_down_is_degraded_and_names_it(cells, probed, word, weather):
    with mended_proxy(cells) as proxy:
        process = probed(word, first_behind(cells, proxy))
        await process.says(200, ready=True, degraded=False)
        getattr(proxy, weather)()
        said = await process.says(200, ready=True, degraded=True)
        assert said["cells"][cells[1].name] == "ok"
        assert said["cells"][cells[0].name] != "ok"
        assert cells[0].name in said["reasons"][0]
        proxy.mend()
        await process.says(200, ready=True, degraded=False)


@pytest.mark.parametrize("word", ["node", "api"])
async def test_with_the_last_cell_cut_it_is_alive_and_not_ready(cells, probed, word):
    with mended_proxy(cells) as proxy:
        process = probed(word, first_behind(cells[:1], proxy))
        await process.says(200, ready=True)
        proxy.cut()
        await process.says(503, ready=False)
        assert (await process.get("/healthz")).status_code == 200, "no orchestrator restarts it for its database"
        proxy.mend()
        await process.says(200, ready=True, degraded=False)


async def test_a_frozen_node_is_missed_by_its_neighbour(cells, probed):
    first, second = probed("node", cells, "1"), probed("node", cells, "2")

    async def sees(many):
        found = await first.metrics()
        return all(found.get(("horae_nodes_alive", ("cell", cell.name))) == many for cell in cells)

    await first.says(200, ready=True)
    await until(lambda: sees(2), LONG)
    second.child.signal(SIGSTOP)
    try:
        await until(lambda: sees(1), LONG)
    finally:
        second.child.signal(SIGCONT)
    await until(lambda: sees(2), LONG)


async def test_a_taken_port_names_the_setting(cells, probed):
    node = probed("node", cells)
    await node.says(200, ready=True)
    rival = probed("node", cells, "2", HORAE_NODE_MONITORING_PORT=str(node.port))
    await rival.child.ended(LONG)
    assert (
        f"port {node.port} of 127.0.0.1 is in use by another program: set HORAE_NODE_MONITORING_PORT"
        in rival.child.tail()
    )


async def test_a_token_guards_metrics_and_not_probes(cells, probed):
    node = probed("node", cells, HORAE_MONITORING_TOKEN="a-token-of-the-scraper")
    await node.says(200, ready=True)
    refused = await node.get("/metrics")
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    node.client.headers["Authorization"] = "Bearer a-token-of-the-scraper"
    assert (await node.metrics())["process_open_fds",] > 0


async def test_counters_equal_the_rows_and_the_calls(ctx, cells, store, probed, catcher):
    """Attempts and delays of a node are what PostgreSQL has."""
    node = probed("node", cells)
    for number in range(3):
        name = f"job-{number}"
        await a_job(ctx, name, every(ctx, 1, name), target=HttpTarget(f"{catcher.url}/{name}"))
    ended = "select count(*) as many from instance_history where state = 'SUCCESS'"

    async def succeeded():
        return sum(row["many"] for row in await query(store, ended))

    async def fired():
        return await succeeded() >= 10

    async def equal():
        found = await node.metrics()
        attempts = sum(
            found[name] for name in found if name[0] == "horae_attempts_total" and ("result", "success") in name
        )
        delays = sum(found[name] for name in found if name[0] == "horae_trigger_delay_seconds_count")
        return attempts == delays == await succeeded() == len(catcher.arrivals)

    await until(fired, LONG)
    for number in range(3):
        await jobs.pause(ctx, f"job-{number}")
    await until(equal, LONG)
