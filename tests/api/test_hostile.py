"""Every route that takes a body, hot ones and the worker protocol too, beside what strangers send."""

from typing import Any

import httpx2
import pytest

from horae.api.routes.login import MAX_LOGIN_BYTES
from horae.api.routes.plans import MAX_PLAN_BYTES
from horae.domain.tenants.tenants import SYSTEM
from horae.security.roles import Role
from horae.service.context import Context
from horae.service.identity import api_keys
from tests.api.calls import CALLS, Call
from tests.api.hostile import LARGEST, UNREADABLE, WRONG, mutations
from tests.api.world import a_world, asking, own_shards

pytestmark = pytest.mark.timeout(300)
JSON = {"Content-Type": "application/json", "Idempotency-Key": "hostile"}
FEWEST = 24
"""Operations with a body, at least: the worker protocol's four and the hot ones among them."""
GOOD: dict[str, Any] = {
    "PUT /api/v1/tasks/{type}": {
        "tasks": [{"key": "a", "at": "2035-01-01T08:00:00Z", "payload": {"a": 1}, "version": 1}]
    },
    "POST /api/v1/workers/poll": {"queue": "q", "worker_id": "w", "limit": 1, "wait": 0},
    "POST /api/v1/jobs": {
        "name": "new",
        "trigger": {"kind": "interval", "every": 60, "anchor": "2026-01-01T00:00:00Z"},
        "target": {
            "kind": "http",
            "url": "https://example.com/",
            "headers": {"a": "b"},
            "query": {"a": "b"},
            "body": {"a": "{{ payload }}"},
            "auth": {"kind": "oauth", "token_url": "https://example.com/", "client_id": "a", "client_secret": "b"},
            "rate": 1,
        },
        "priority": "low",
        "payload": {"a": 1},
        "labels": {"a": "b"},
        "retry": {"base": 1, "longest": 2, "jitter_min": 0.1, "jitter_max": 0.2, "max_failures": 3},
        "policies": {
            "misfire": {"policy": "all", "max_lateness": 100, "cap": 3, "pace": 1},
            "spread": {"window": 1, "jitter": 1},
            "start": "2026-01-01T00:00:00Z",
            "end": "2036-01-01T00:00:00Z",
            "max_count": 5,
        },
        "width": 16,
        "limit": {"rate": 1, "burst": 1, "concurrency": 1},
        "quotas": ["q"],
    },
    "PUT /api/v1/tenants/{tenant}/allowance": {
        "weight": 2,
        "limit": {"rate": 1, "burst": 1, "concurrency": 1},
        "quotas": {"q": {"rate": 1}},
        "retries": {"rate": 1},
        "requests": {"rate": 1},
        "egress": {"networks": ["10.0.0.0/8"], "ports": ["443"], "plain": True},
    },
    "POST /api/v1/calendars/{calendar}/preview": {
        "first": "2026-01-01",
        "last": "2026-12-31",
        "weekdays": [1],
        "added": ["2026-01-03"],
        "removed": ["2026-01-05"],
        "days": 30,
        "after": "a",
        "limit": 5,
    },
    "PUT /api/v1/calendars/{calendar}": {
        "first": "2026-01-01",
        "last": "2026-12-31",
        "weekdays": [1],
        "added": ["2026-01-03"],
        "removed": ["2026-01-05"],
    },
}
"""Bodies with more in them than the call of the document's test has."""


@pytest.fixture
async def world(whole, store):
    await own_shards(store)
    return await a_world(whole, store, SYSTEM)


@pytest.fixture
async def stranger(whole, store, world):
    """One who may do everything, and sends nonsense."""
    made = await api_keys.create(Context.of(store, world.tenant, "test"), "all", [Role.ADMIN, Role.WORKER])
    async with asking(whole, made.text) as client:
        yield client


def bodied(app) -> list[str]:
    found = [
        f"{method.upper()} {path}"
        for path, methods in app.openapi()["paths"].items()
        for method, facts in methods.items()
        if "application/json" in facts.get("requestBody", {}).get("content", {})
    ]
    assert len(found) >= FEWEST
    assert sum("/workers/" in name for name in found) == 6
    return found


def facts_of(app, name: str) -> dict[str, Any]:
    method, _, path = name.partition(" ")
    return app.openapi()["paths"][path][method.lower()]


async def send(client: httpx2.AsyncClient, name: str, call: Call, **how: Any) -> httpx2.Response:
    method, _, path = name.partition(" ")
    return await client.request(method, path.format(**call.path), params=call.query, **how)


def check(answer: httpx2.Response, *what: object) -> None:
    """A problem of the caller's, that tells nothing of the inside."""
    assert 400 <= answer.status_code < 500, (*what, answer.text)
    assert answer.headers["Content-Type"] == "application/problem+json", what
    assert answer.json()["status"] == answer.status_code, what
    assert "Traceback" not in answer.text, what
    assert "site-packages" not in answer.text, what


async def test_what_two_readers_could_understand_differently_is_refused_by_every_route(whole, world, stranger):
    for name in bodied(whole):
        for what, body in UNREADABLE.items():
            answer = await send(stranger, name, CALLS[name](world), content=body, headers=JSON)
            check(answer, name, what)
            if _is_cut(name, body):
                assert answer.status_code == 413, (name, what)
            else:
                assert (answer.status_code, answer.json()["code"]) == (400, "SCH_400_BAD_REQUEST"), (name, what)


async def test_a_body_of_another_shape_is_invalid_to_every_route(whole, world, stranger):
    for name in bodied(whole):
        for what, body in WRONG.items():
            if body in {b"", b"null"} and not facts_of(whole, name)["requestBody"].get("required"):
                continue
            answer = await send(stranger, name, CALLS[name](world), content=body, headers=JSON)
            check(answer, name, what)
            assert answer.status_code == (413 if _is_cut(name, body) else 422), (name, what, answer.text)


def _is_cut(name: str, body: bytes) -> bool:
    """Whether a body is larger than a stranger may send."""
    return name == "POST /login/key" and len(body) > MAX_LOGIN_BYTES


async def test_a_body_that_is_too_large_or_no_json_is_refused_by_every_route(whole, world, stranger):
    async def dripping(most):
        for _ in range(most // 8192 + 1):
            yield b" " * 8192

    for name in bodied(whole):
        call, most = CALLS[name](world), MAX_PLAN_BYTES if "/plans" in name else LARGEST
        for content in (b'{"a": "' + b"x" * most + b'"}', dripping(most)):
            answer = await send(stranger, name, call, content=content, headers=JSON)
            check(answer, name)
            assert answer.json()["code"] == "SCH_413_TOO_LARGE", name
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16"):
            answer = await send(stranger, name, call, content=b"{}", headers=JSON | {"Content-Type": kind})
            check(answer, name, kind)
            assert answer.json()["code"] == "SCH_415_MEDIA_TYPE", (name, kind)


async def test_no_value_in_any_place_of_any_body_is_a_failure_of_ours(whole, world, stranger):
    asked = 0
    for name in bodied(whole):
        call = CALLS[name](world)
        good = GOOD.get(name, call.body)
        if name in GOOD:
            answer = await send(stranger, name, call, json=good)
            assert answer.is_success, (name, answer.text)
        for what, body in mutations(good):
            answer = await send(stranger, name, call, json=body, headers={"Idempotency-Key": f"{asked}"})
            assert answer.status_code < 500, (name, what, answer.text)
            if not answer.is_success:
                check(answer, name, what)
            asked += 1
    assert asked > 2_000
