"""S-12 and S-17: every list, every payload, every login and every stream has its bound, and says when to come back."""

import httpx2
import pytest

from horae.api import gate
from horae.api.pages import MOST
from horae.domain.tenants.tenants import SYSTEM
from horae.runtime.meter import Rate
from horae.security.roles import Role
from horae.service.context import Context
from horae.service.identity import api_keys
from tests.api.calls import CALLS
from tests.api.hostile import UNREADABLE
from tests.api.test_hostile import check, send
from tests.api.world import AT, a_world, asking, own_shards

FEWEST_LISTS = 15
LARGEST_PAYLOAD = 64 * 1024
PAYLOADS = {
    "POST /api/v1/jobs": lambda payload: {"name": "large", "payload": payload},
    "POST /api/v1/jobs/{job}/trigger": lambda payload: {"payload": payload},
    "PUT /api/v1/tasks/{type}/{key}": lambda payload: {"at": AT, "payload": payload},
}


@pytest.fixture
async def world(whole, store):
    await own_shards(store)
    return await a_world(whole, store, SYSTEM)


@pytest.fixture
async def greedy(whole, store, world):
    made = await api_keys.create(Context.of(store, world.tenant, "test"), "all", [Role.ADMIN, Role.WORKER])
    async with asking(whole, made.text) as client:
        yield client


def lists_of(app) -> list[str]:
    """Operations that answer by pages."""
    found = [
        f"{method.upper()} {path}"
        for path, methods in app.openapi()["paths"].items()
        for method, facts in methods.items()
        if {"limit", "cursor"} <= {one["name"] for one in facts.get("parameters", [])}
    ]
    assert len(found) >= FEWEST_LISTS
    return found


async def test_no_list_gives_more_than_a_page_of_200(whole, world, greedy):
    assert MOST == 200
    for name in lists_of(whole):
        call = CALLS[name](world)
        within = await send(greedy, name, call._replace(query=call.query | {"limit": MOST}))
        assert within.is_success, (name, within.text)
        beyond = await send(greedy, name, call._replace(query=call.query | {"limit": MOST + 1}))
        check(beyond, name)
        assert beyond.status_code == 422, name


async def test_a_payload_has_at_most_64_kib_whichever_way_it_comes(world, greedy):
    for name, body in PAYLOADS.items():
        answer = await send(greedy, name, CALLS[name](world), json=body("x" * LARGEST_PAYLOAD), headers=_key(name))
        check(answer, name)
        assert answer.status_code == 422, (name, answer.text)
        answer = await send(greedy, name, CALLS[name](world), json=body("x" * 1000), headers=_key(name))
        assert answer.is_success, (name, answer.text)


async def test_a_line_that_two_readers_could_understand_differently_ends_its_stream(whole, world, greedy):
    kinds = {
        (f"{method.upper()} {path}", kind)
        for path, methods in whole.openapi()["paths"].items()
        for method, facts in methods.items()
        for kind in facts.get("requestBody", {}).get("content", {})
    }
    [(name, stream)] = [one for one in kinds if one[1] != "application/json"]
    assert stream == "application/x-ndjson"
    for what, line in UNREADABLE.items():
        for body in (line, b'"before"\n' + line + b'\n"behind"\n'):
            answer = await send(greedy, name, CALLS[name](world), content=body, headers={"Content-Type": stream})
            if line.strip():
                check(answer, what)
            else:
                assert answer.is_success, what


async def test_logins_of_one_address_are_throttled_and_those_of_another_are_not(app, key, monkeypatch):
    monkeypatch.setattr(gate, "LOGIN_RATE", Rate(rate=0.001, burst=5))
    good = {"key": await key(Role.VIEWER)}
    found = [await _login(app, "203.0.113.7", good) for _ in range(8)]
    assert [one.is_success for one in found] == [True] * 5 + [False] * 3
    assert {one.status_code for one in found[5:]} == {429}
    assert int(found[-1].headers["Retry-After"]) >= 1
    assert (await _login(app, "203.0.113.8", good)).is_success


async def _login(app, address, body):
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False, client=(address, 1))
    async with httpx2.AsyncClient(transport=transport, base_url="http://horae.test") as client:
        return await client.post("/login/key", json=body)


def _key(name):
    return {"Idempotency-Key": f"rows-{name.split('/')[-1]}"}
