"""F23: who comes with bad credentials is slowed down; who shares an address with him and has a good one is not."""

from contextlib import asynccontextmanager

import httpx2

from horae.security.roles import Role
from tests.api.api_servers import open_doors
from tests.store.walls import as_role

MANY = 40
PATH = "/api/v1/jobs"
PROXY = "127.0.0.2"
"""Where a proxy calls from: servers often believe 127.0.0.1 without being told to."""


@asynccontextmanager
async def asking(cells, folder, peer="127.0.0.1", **settings):
    """A client of a server of its own; it calls from the address `peer`."""
    async with (
        open_doors(1, folder, as_role(cells, "horae_api"), **settings) as [door],
        httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{door.port}",
            timeout=60,
            transport=httpx2.AsyncHTTPTransport(local_address=peer),
        ) as client,
    ):
        yield client


async def statuses(client, many, **headers):
    """The statuses of so many requests with a key that nobody has."""
    found = []
    for n in range(many):
        bad = {"Authorization": f"Bearer horae_{n:030}", **headers}
        found.append((await client.get(PATH, headers=bad)).status_code)
    return found


async def test_f23_a_good_key_passes_whatever_others_at_its_address_do(anyone, key):
    found = await statuses(anyone, MANY)
    assert (found[0], found[-1]) == (401, 429)
    good = {"Authorization": f"Bearer {await key(Role.VIEWER)}"}
    assert (await anyone.get(PATH, headers=good)).status_code == 200
    assert (await statuses(anyone, 1)) == [429]


async def test_f23_behind_a_trusted_proxy_each_caller_has_an_address_of_its_own(store, cells, tmp_path):
    trusted = {"api_trusted_proxies": '["127.0.0.0/8"]'}
    async with asking(cells, tmp_path, PROXY, **trusted) as client:
        first = await statuses(client, MANY, **{"X-Forwarded-For": "203.0.113.7"})
        other = await statuses(client, 1, **{"X-Forwarded-For": "203.0.113.8"})
        made_up = await statuses(client, 1, **{"X-Forwarded-For": "198.51.100.1, 203.0.113.7"})
    assert (first[0], first[-1], other, made_up) == (401, 429, [401], [429])


async def test_without_a_trusted_proxy_nobody_names_his_own_address(store, cells, tmp_path):
    async with asking(cells, tmp_path) as client:
        found = [(await statuses(client, 1, **{"X-Forwarded-For": f"203.0.113.{n}"}))[0] for n in range(MANY)]
    assert found[-1] == 429
