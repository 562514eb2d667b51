"""F6: with one of two cells down, every duty of every process goes on in the other, and says so once.

The duties are those that the programs themselves put into loops: one that is added is walked over, too.
"""

import asyncio
import threading
from collections import Counter, defaultdict
from contextlib import suppress

import asyncpg
import pytest
from structlog.testing import capture_logs

from horae.boot.api_server import api_server
from horae.boot.secrets import secrets_of
from horae.boot.serving import run_node
from horae.runtime.loop import Loop
from horae.runtime.randomness import new_id, new_token
from horae.runtime.settings import Settings
from horae.store.connections import deadlines
from horae.store.store import Store
from horae.upkeep.copies import Copier
from tests.cell_down import WEATHERS, a_tenant_in, first_behind, mended_proxy
from tests.keyring import sealed
from tests.steps import query, until

pytestmark = pytest.mark.timeout(240)
KNOWN = "select from reference where kind = 'tenant' and id = $1"
SECRET = "kV3mQ9xT7pLw2ZrB8nYc5HdJ4sGfAeUo"
DUTIES = {
    "node": {
        "partitioner",
        "vacuumer",
        "copier",
        "purger",
        "forgetter",
        "doctor",
        "auditchainer",
        "dropper",
        "dayarchiver",
        "daydropper",
        "signaller",
    },
    "api": {"clockkeeper", "identitycopier", "callers", "visitors", "signaller"},
}
"""Some that are known to be there: a walk that finds nothing proves nothing."""
COPIERS = {"copier", "identitycopier", "tombstoneforgetter", "removedtypeforgetter", "versionforgetter"}
"""Between two cells of which one is down there is no way to carry anything: see the test with three."""


@pytest.fixture
def proxy(cells, monkeypatch):
    monkeypatch.setattr(deadlines, "ANSWER_TIMEOUT_S", 1.0)
    with mended_proxy(cells) as proxy:
        yield proxy


@pytest.fixture
def loops(monkeypatch):
    """Every loop that is made; none of them turns."""
    made = []
    begin = Loop.__init__

    def keep(self, *args, **facts):
        begin(self, *args, **facts)
        made.append(self)

    async def stand_still(_self):
        await asyncio.Event().wait()

    monkeypatch.setattr(Loop, "__init__", keep)
    monkeypatch.setattr(Loop, "run", stand_still)
    return made


@pytest.fixture
def asked(monkeypatch):
    """How often a statement was sent to which port, by anyone but the thread that keeps the leases."""
    counts = Counter()

    def counting(way):
        def send(self, *args, **facts):
            if threading.current_thread() is threading.main_thread():
                counts[self._addr[1]] += 1
            return way(self, *args, **facts)

        return send

    for name in ("fetch", "fetchrow", "fetchval", "execute"):
        way = getattr(asyncpg.Connection, name)
        monkeypatch.setattr(asyncpg.Connection, name, counting(way))
    return counts


class Walk:
    """Goes over the duties of one process, as often as asked."""

    def __init__(self, store, loops, asked):
        self.store, self.asked = store, asked
        self.duties = [(loop.name, _unprompted(loop.duty)) for loop in loops]

    async def once(self):
        """What each duty asked of which port, and what it raised."""
        found = []
        for name, duty in self.duties:
            if hasattr(duty, "_used"):  # keys that were used, one at home in each cell
                shards = [self.store.shards_of(cell)[0] for cell in self.store.cells]
                duty._used = {new_id(shard, self.store.cells[1].clock.now()): new_token() for shard in shards}
            if hasattr(duty, "_learned_at"):  # edges that were read a while ago
                duty._learned_at = None
            before, error = self.asked.copy(), None
            try:
                await duty.once()
            except Exception as raised:
                error = raised
            found.append((name, self.asked - before, error))
        return found


def _unprompted(duty):
    return duty.duty if type(duty).__name__ == "PromptedDuty" else duty


async def walk_over(walk, proxy, weather, ports):
    """The names of the duties, after a round while all is well and three with the first cell down."""
    down, up = ports
    well = await walk.once()
    assert [(name, error) for name, _, error in well if error is not None] == []
    getattr(proxy, weather)()
    with capture_logs() as logs:
        rounds = [await walk.once() for _ in range(3)]
    hurt = defaultdict(list)
    for (name, before, _), *after in zip(well, *rounds, strict=True):
        over_all = before[up] and before[down] and name not in COPIERS
        if over_all and not all(asking[up] for _, asking, _ in after):
            hurt[name].append("the healthy cell was not asked")
        for error in [error for _, _, error in after if error is not None]:
            if before[up] or type(error).__name__ != "RoundPostponed":
                hurt[name].append(repr(error))
    assert dict(hurt) == {}
    told = Counter((log["event"], log.get("duty"), log.get("cell"), f"{log.get('what')}") for log in logs)
    assert {saying: many for saying, many in told.items() if many > 1} == {}
    assert [log for log in logs if log.get("exc_info")] == []
    proxy.mend()
    return {name for name, asking, _ in well if asking[up] and asking[down]}


@pytest.mark.parametrize("weather", WEATHERS)
async def test_every_duty_of_a_node_serves_the_cell_that_is_there(cells, store, proxy, loops, asked, tmp_path, weather):
    through = first_behind(cells, proxy)
    folders = {"audit_anchors": tmp_path / "anchors", "archive": f"file://{tmp_path}/archive"}
    settings = Settings(environment="test", cells=through, lease_ttl=4.0, **folders)
    async with Store.of(through) as own:
        sealed(own)
        async with run_node(settings, own, await secrets_of(settings, own)) as node:
            await until(lambda: all(node.leases.held_shards(cell) for cell in own.cells))
            walked = await walk_over(Walk(own, loops, asked), proxy, weather, _ports(cells, proxy))
    assert walked >= DUTIES["node"]


@pytest.mark.parametrize("weather", WEATHERS)
async def test_every_duty_of_an_api_serves_the_cell_that_is_there(cells, store, proxy, loops, asked, weather):
    through = first_behind(cells, proxy, "horae_api")
    settings = Settings(environment="test", api_cells=through, api_secret=SECRET, api_port=0)
    async with Store.of(through) as own:
        sealed(own)
        async with api_server(settings, own):
            walked = await walk_over(Walk(own, loops, asked), proxy, weather, _ports(cells, proxy))
    assert walked >= DUTIES["api"]


@pytest.mark.parametrize("weather", WEATHERS)
async def test_copies_go_on_between_the_cells_that_are_there_and_a_cell_that_comes_back_gets_what_it_missed(
    cells, store, proxy, weather
):
    """The first of three cells is down; it is the first cell once more, behind a network of its own."""
    away, first, second = first_behind(cells, proxy)[0].model_copy(update={"name": "away"}), *cells
    async with Store.of([away, first, second]) as own:
        copier = Copier(own)
        getattr(proxy, weather)()
        with suppress(Exception):
            await copier.once()  # the first round of all, which may fail
        tenant = await a_tenant_in(store, store.cells[0])
        for _ in range(2):
            with suppress(ConnectionError, TimeoutError, asyncpg.PostgresError):
                await copier.once()
        assert await query(own.cells[2], KNOWN, tenant.id) != []
        other = await a_tenant_in(store, store.cells[1], "other")
        proxy.mend()
        await until(lambda: _carried(copier, own.cells[0], other))


async def _carried(copier, cell, tenant):
    await copier.once()
    return await query(cell, KNOWN, tenant.id) != []


def _ports(cells, proxy):
    return proxy.ports[0], int(cells[1].dsn.rpartition("@")[2].partition("/")[0].rpartition(":")[2])
