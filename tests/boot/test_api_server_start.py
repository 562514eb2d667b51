"""An API process in production starts where the direct connection to one of its cells is lost, and joins it later."""

import httpx2
import pytest

from horae.boot.api_server import api_server
from horae.runtime.settings import Settings
from horae.store.store import Store
from horae.store.tx import GONE
from tests.api.api_servers import SECRET
from tests.cell_down import first_behind, mended_proxy
from tests.steps import until
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


async def test_the_only_cell_must_be_there(cells, settings):
    with mended_proxy(cells) as proxy:
        proxy.refuse()
        async with Store.of(reached_by_poolers(cells, proxy)[:1]) as store:
            with pytest.raises(GONE):
                async with api_server(settings, store):
                    pass
