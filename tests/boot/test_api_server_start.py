"""An API process starts where one of its cells is lost or of the past, and serves the others."""

import httpx2
import pytest
from structlog.testing import capture_logs

from horae.boot.api_server import api_server
from horae.runtime.settings import Settings
from horae.store.store import Store
from horae.store.tx import GONE
from horae.upkeep.generations import GenerationWatch
from tests.api.api_servers import SECRET
from tests.cell_down import first_behind, mended_proxy
from tests.steps import query, until
from tests.store.walls import as_role

ROLE = "horae_api"


def reached_by_poolers(cells, proxy):
    """The cells behind a pooler that answers; the direct connection to the first one leads through the proxy."""
    [first, *_] = first_behind(cells, proxy, ROLE)
    pooled = as_role(cells, ROLE)
    return [pooled[0].model_copy(update={"pooled": True, "direct_dsn": first.dsn}), *pooled[1:]]


@pytest.fixture
def settings():
    return Settings(environment="production", api_secret=SECRET, api_host="127.0.0.1", api_port=0)


async def test_one_direct_connection_that_is_lost_keeps_no_api_from_starting(cells, settings):
    with mended_proxy(cells) as proxy:
        proxy.refuse()
        async with Store.of(reached_by_poolers(cells, proxy)) as store:
            assert [cell.is_open for cell in store.cells] == [True, True]
            async with api_server(settings, store) as address, httpx2.AsyncClient(base_url=address) as anyone:
                assert (await anyone.get("/readyz")).json()["degraded"] is True
                proxy.mend()

                async def whole():
                    return not (await anyone.get("/readyz")).json()["degraded"]

                await until(whole, 60)


async def test_a_database_from_before_a_restore_elsewhere_is_not_served(store, cells, settings):
    """What it acknowledged would be lost. No node runs here that could close it."""
    await GenerationWatch(store).once()
    async with Store.of(as_role(cells, ROLE)) as own, api_server(settings, own):
        assert [cell.is_open for cell in own.cells] == [True, True]
    await query(store.cells[1], "update cell_witness set generation = 2 where cell = 'cell-0'")
    async with Store.of(as_role(cells, ROLE)) as own:
        with capture_logs() as said:
            async with api_server(settings, own) as address, httpx2.AsyncClient(base_url=address) as anyone:
                assert [cell.is_open for cell in own.cells] == [False, True]
                assert (await anyone.get("/readyz")).json()["degraded"] is True
                await until(lambda: any("restored elsewhere" in str(line) for line in said[1:]), 60)
                assert [cell.is_open for cell in own.cells] == [False, True], "it does not join later either"
    assert said[0] | {"reason": ""} == {"event": "cell.refused", "log_level": "error", "cell": "cell-0", "reason": ""}


async def test_the_only_cell_must_be_there(cells, settings):
    with mended_proxy(cells) as proxy:
        proxy.refuse()
        async with Store.of(reached_by_poolers(cells, proxy)[:1]) as store:
            with pytest.raises(GONE):
                async with api_server(settings, store):
                    pass
