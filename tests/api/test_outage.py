"""A database that is gone, silent, full or out of connections: a problem with a code, and soon all is well again."""

import asyncio
import re
from contextlib import AsyncExitStack
from functools import partial
from time import monotonic
from urllib.parse import urlsplit

import asyncpg
import httpx2
import pytest

from horae.api.openapi import guarded_routes
from horae.boot.api_server import CLOCK_INTERVAL_S, app_of
from horae.runtime.loop import Loop
from horae.runtime.settings import CellSettings
from horae.security.roles import Role
from horae.service.identity.callers import Callers
from horae.store.connections import deadlines
from horae.store.store import Store
from horae.upkeep.clocks import ClockKeeper
from tests.steps import query, until
from tests.system.proxy import proxied

BACK = 10.0
NEVER_LONGER = 30.0
"""Seconds: two cells are asked, each once on a connection that died and once on a new one."""
KNOWN_ANYWAY = {"/me", "/session", "/tenant", "/roles", "/nodes"}
"""Answered from memory: a key has no session to end, and the nodes' answer names the cells that are down."""
KEYED = {"headers": {"Idempotency-Key": "k"}}
NEW = {"name": "new", "cron": "* * * * *"}
ASKED = (
    ("GET", "/jobs", {}),
    ("POST", "/jobs", {"json": NEW, **KEYED}),
    ("POST", "/jobs/j/trigger", KEYED),
    ("GET", "/instances", {}),
    ("PUT", "/tasks/t/k", {"json": {"at": "2030-01-01T00:00:00Z"}}),
    ("POST", "/workers/poll", {"json": {"queue": "j", "worker_id": "w"}}),
    ("POST", "/keys", {"json": {"name": "another", "roles": ["viewer"]}}),
)


class Weathered:
    """An application whose cells lie behind a proxy, an admin of it, and a caller who is remembered for long."""

    def __init__(self, proxy, store, app, headers):
        self.proxy, self.store, self.app = proxy, store, app
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        self.admin = httpx2.AsyncClient(transport=transport, base_url="http://horae.test/api/v1", headers=headers)

    async def ready(self):
        return await self.admin.get("http://horae.test/readyz")

    async def works(self):
        return (await self.admin.get("/jobs")).status_code == 200 and (await self.ready()).status_code == 200


@pytest.fixture(params=[0.0, 600.0], ids=["stranger", "remembered"])
async def weathered(request, cells, key, settings):
    """Once with a caller whose key has to be looked up, once with one who is known already."""
    headers = {"Authorization": f"Bearer {await key(Role.ADMIN, Role.WORKER)}"}
    async with AsyncExitStack() as held:
        proxy = held.enter_context(proxied(cells[0].dsn))
        store = await held.enter_async_context(Store.of(_through(cells, proxy)))
        app = app_of(settings, store, Callers(store, remembered=request.param))
        made = Weathered(proxy, store, app, headers)
        held.push_async_callback(made.admin.aclose)
        keeping = asyncio.create_task(Loop("clockkeeper", ClockKeeper(store), CLOCK_INTERVAL_S).run())
        assert await made.works()
        yield made
        proxy.mend()
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


def _through(cells, proxy):
    netloc = f"horae_api@127.0.0.1:{proxy.ports[0]}"
    return [CellSettings(name=cell.name, dsn=urlsplit(cell.dsn)._replace(netloc=netloc).geturl()) for cell in cells]


def assert_unavailable(answer):
    assert answer.status_code == 503, answer.text
    assert answer.json()["code"] in {"SCH_503_UNAVAILABLE", "SCH_503_KEYS"}, answer.text  # keys lie in cells, too
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert int(answer.headers["Retry-After"]) >= 1


async def says(ask, status):
    """Whether it answers so; an answer about readiness is good for a second."""
    return (await ask()).status_code == status


async def test_a_database_that_refuses_everyone_is_503_and_the_doors_are_back_when_it_is(weathered):
    weathered.proxy.refuse()
    for method, path, facts in ASKED:
        assert_unavailable(await weathered.admin.request(method, path, **facts))
    await until(lambda: says(weathered.ready, 503))
    ready = await weathered.ready()
    assert (ready.status_code, [cell["reachable"] for cell in ready.json()["cells"]]) == (503, [False, False])
    assert (await weathered.admin.get("http://horae.test/healthz")).status_code == 200
    weathered.proxy.mend()
    assert await until(weathered.works, BACK) < BACK
    assert (await weathered.admin.post("/jobs", json=NEW, **KEYED)).status_code == 201


async def test_no_route_fails_in_any_other_way_while_the_database_is_gone(weathered):
    weathered.proxy.refuse()
    for route in guarded_routes(weathered.app):
        path = re.sub(r"\{[^}]*\}", "x", route.path.removeprefix("/api/v1"))
        for method in route.methods:
            answer = await weathered.admin.request(method, path if path != "/metrics" else "http://horae.test/metrics")
            if path in KNOWN_ANYWAY and answer.status_code == 200:
                continue
            assert answer.status_code == 503 or 400 <= answer.status_code < 500, (method, path, answer.text)
            assert answer.json()["code"].startswith("SCH_"), (method, path)


@pytest.mark.parametrize("weathered", [600.0], indirect=True, ids=["remembered"])
async def test_connections_that_died_in_silence_are_replaced_within_ten_seconds(weathered):
    weathered.proxy.sever()
    began = monotonic()
    await until(weathered.works, BACK)
    assert monotonic() - began < BACK


@pytest.mark.parametrize("weathered", [0.0], indirect=True, ids=["stranger"])
async def test_a_database_that_says_nothing_keeps_nobody_for_ever(weathered):
    weathered.proxy.cut()
    began = monotonic()
    assert_unavailable(await weathered.admin.get("/jobs"))
    assert monotonic() - began < NEVER_LONGER
    await until(lambda: says(weathered.ready, 503))
    weathered.proxy.mend()
    assert await until(weathered.works, BACK) < BACK


async def test_an_exhausted_pool_is_503_and_the_rush_leaves_nothing_behind(admin, anyone, doors, monkeypatch):
    await admin.get("/jobs")
    monkeypatch.setattr(deadlines, "ANSWER_TIMEOUT_S", 1.0)
    async with AsyncExitStack() as rush:
        for cell in doors.cells:
            for _ in range(cell.connections):
                await rush.enter_async_context(cell.pool.acquire())
        assert_unavailable(await admin.get("/jobs"))
        assert_unavailable(await admin.post("/jobs", json=NEW, **KEYED))
        await until(lambda: says(partial(anyone.get, "/readyz"), 503))
        assert (await anyone.get("/healthz")).status_code == 200
    await until(lambda: says(partial(anyone.get, "/readyz"), 200))
    assert (await admin.post("/jobs", json=NEW, **KEYED)).status_code == 201


@pytest.mark.parametrize("sqlstate", ["53100", "53200", "58030"])
async def test_a_server_without_room_is_503_and_leaves_no_part_of_a_change(admin, store, sqlstate):
    """As PostgreSQL says it of a full disk, no memory and a disk that fails, in the midst of a change."""

    async def rows():
        answers = "idempotency where resource <> ''"  # that the key is bound to its body stays, and is no part of it
        tables = ("job", "job_version", "job_cursor", answers, "outbox", "audit_log")
        return [len(await query(store, f"select from {table}")) for table in tables]

    before = await rows()
    for cell in store.cells:
        async with cell.pool.acquire() as connection:
            await connection.execute(
                "create function full_disk() returns trigger language plpgsql as"
                f" $$ begin raise exception 'No space left on device' using errcode = '{sqlstate}'; end $$;"
                " create trigger full_disk before insert on audit_log for each row execute function full_disk()"
            )
    assert_unavailable(await admin.post("/jobs", json=NEW, **KEYED))
    assert await rows() == before
    for cell in store.cells:
        async with cell.pool.acquire() as connection:
            await connection.execute("drop function full_disk() cascade")
    assert (await admin.post("/jobs", json=NEW, **KEYED)).status_code == 201
    assert all(now > then for now, then in zip(await rows(), before, strict=True))


async def test_a_server_without_a_connection_left_is_503(admin, anyone, doors, cells, cluster):
    await admin.get("/jobs")
    names = [urlsplit(cell.dsn).path[1:] for cell in cells]
    owner = await asyncpg.connect(cluster.dsn("postgres"))
    try:
        for name in names:
            await owner.execute(f'alter database "{name}" connection limit 0')
        await owner.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'horae_api' and datname = any($1)",
            names,
        )
        assert_unavailable(await admin.get("/jobs"))
        assert (await anyone.get("/readyz")).status_code == 503
        for name in names:
            await owner.execute(f'alter database "{name}" connection limit -1')
    finally:
        await owner.close()

    async def back():
        return (await admin.get("/jobs")).status_code == 200

    assert await until(back, BACK) < BACK
