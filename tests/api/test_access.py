import asyncio
import re
from datetime import timedelta

import httpx2
import pytest
from fastapi.routing import APIRoute

from horae.api.openapi import guarded_routes
from horae.api.routing import action_of
from horae.boot.api_server import app_of
from horae.domain.errors import Invalid
from horae.domain.ids import shard_in
from horae.runtime.settings import Settings
from horae.security.credentials import new_credential
from horae.security.roles import ACTIONS, ANONYMOUS, Role, roles_for
from horae.service.identity import api_keys
from horae.service.identity.callers import Callers
from horae.upkeep.copies import Copier
from horae.upkeep.identities import IdentityCopier
from tests.steps import move_clock, query, until


def test_every_route_names_an_action_or_is_open_on_purpose(app):
    paths = {route.path for route in app.routes if isinstance(route, APIRoute)}
    closed = {route.path for route in guarded_routes(app)}
    assert paths - closed == ANONYMOUS
    assert {action_of(route) for route in guarded_routes(app)} <= set(ACTIONS)


async def test_no_route_opens_without_a_good_credential(app, anyone, store):
    shard = 7
    unknown = new_credential(api_keys.new_id(shard, store.cells[0].clock.now())).text()
    for header in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": f"Bearer {unknown}"}):
        for route in guarded_routes(app)[:6]:
            for method in route.methods:
                answer = await anyone.request(method, route.path, headers=header)
                assert (answer.status_code, answer.json()["code"]) == (401, "SCH_401_UNAUTHENTICATED")
                assert answer.headers["WWW-Authenticate"].startswith("Bearer")


async def test_each_role_may_do_what_the_table_says_and_nothing_else(app, client, store):
    """Asked with ids that do not exist: what is allowed is not found or not valid, what is not is forbidden."""
    for role in Role:
        asking = await client(role)
        for route in guarded_routes(app):
            action = action_of(route)
            allowed = role in roles_for(action) and not ACTIONS[action].platform
            path = re.sub(r"\{[^}]*\}", "x", route.path.removeprefix("/api/v1"))
            for method in route.methods:
                answer = await asking.request(method, path if path != "/metrics" else "http://horae.test/metrics")
                assert (answer.status_code == 403) is not allowed, (role, action, answer.text)


async def test_a_scope_narrows_a_role(client):
    narrow = await client(Role.ADMIN, scopes=["jobs.list", "keys.*"])
    assert (await narrow.get("/jobs")).status_code == 200
    assert (await narrow.get("/keys")).status_code == 200
    assert (await narrow.post("/jobs", json={"name": "j"})).json()["code"] == "SCH_403_FORBIDDEN"


async def test_an_expired_key_opens_nothing(client, store):
    now = store.cells[0].clock.now()
    asking = await client(Role.VIEWER, expires_at=now + timedelta(hours=1))
    assert (await asking.get("/jobs")).status_code == 200
    await move_clock(store, hours=1)

    async def refused():
        return (await asking.get("/jobs")).status_code == 401

    await until(refused)


async def test_a_revoked_key_is_refused_in_every_process_within_five_seconds(client, key, admin, settings, doors):
    text = await key(Role.VIEWER)
    apps = [app_of(settings, doors, Callers(doors)) for _ in range(4)]
    others = [
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app),
            base_url="http://horae.test/api/v1",
            headers={"Authorization": f"Bearer {text}"},
        )
        for app in apps
    ]
    for one in others:
        assert (await one.get("/jobs")).status_code == 200
    found = (await admin.get("/keys")).json()["items"]
    [key_id] = [one["id"] for one in found if one["name"] == "viewer"]
    assert (await admin.delete(f"/keys/{key_id}")).json()["revoked_at"]

    async def refused():
        return {(await one.get("/jobs")).status_code for one in others} == {401}

    assert await until(refused) < 5
    for one in others:
        await one.aclose()


async def test_roles_taken_away_are_gone_within_five_seconds(admin, client):
    editor = await client(Role.EDITOR)
    assert (await editor.post("/jobs", json={"name": "j"})).status_code == 201
    [bound] = [one for one in (await admin.get("/role-bindings")).json()["items"] if one["roles"] == ["editor"]]
    await admin.put(f"/role-bindings/{bound['principal']}", json={"roles": ["viewer"]})

    async def refused():
        return (await editor.post("/jobs/j/pause")).status_code == 403

    assert await until(refused) < 5
    assert (await editor.get("/jobs")).status_code == 200


async def test_a_key_is_good_while_its_home_is_down(client, store, doors, tenant):
    asking = await client(Role.VIEWER)
    await IdentityCopier(doors).once()
    await Copier(store).once()
    copies = await query(store, "select id from api_key")
    assert len(copies) == 2
    assert len(set(copies)) == 1
    await doors.cell(shard_in(tenant.id)).pool.close()
    assert (await asking.get("/tenant")).json()["name"] == "acme"


async def test_a_key_that_only_its_home_knows_is_unavailable_while_that_is_down_and_not_unknown(client, doors, tenant):
    asking = await client(Role.VIEWER)
    await doors.cell(shard_in(tenant.id)).pool.close()
    assert (await asking.get("/tenant")).json()["code"] == "SCH_503_UNAVAILABLE"


async def test_a_rush_asks_once_about_its_key(client, callers, monkeypatch):
    asking, looked = await client(Role.VIEWER), []
    look = callers._look

    async def counted(*args):
        looked.append(args)
        return await look(*args)

    monkeypatch.setattr(callers, "_look", counted)
    answers = await asyncio.gather(*(asking.get("/tenant") for _ in range(30)))
    assert {answer.status_code for answer in answers} == {200}
    assert len(looked) == 1


async def test_a_dump_of_the_database_holds_no_usable_key(key, store):
    text = await key(Role.ADMIN)
    secret = text.split("_")[2]
    for table in ("api_key", "role_binding", "audit_log", "outbox", "idempotency", "reference"):
        for row in await query(store, f"select t::text as line from {table} t"):
            assert secret not in row["line"]
            assert text not in row["line"]


async def test_who_fails_often_is_slowed_down_and_others_are_not(anyone, admin):
    assert (await admin.get("/jobs")).status_code == 200
    codes = [
        (await anyone.get("/api/v1/jobs", headers={"Authorization": "Bearer nonsense"})).status_code for _ in range(30)
    ]
    assert codes[:15] == [401] * 15
    assert codes[-1] == 429
    answer = await anyone.get("/api/v1/jobs", headers={"Authorization": "Bearer nonsense"})
    assert answer.json()["code"] == "SCH_429_RATE_LIMITED"
    assert int(answer.headers["Retry-After"]) >= 1
    assert (await admin.get("/jobs")).status_code == 200


@pytest.mark.parametrize("secret", ["", "short", "change-me-change-me-change-me-change-me", "a" * 64])
def test_no_door_opens_with_a_secret_that_anyone_could_guess(secret, store, callers):
    with pytest.raises(Invalid, match="HORAE_API_SECRET"):
        app_of(Settings(environment="test", api_secret=secret), store, callers)


async def test_last_use_is_noted(admin, callers, store):
    await admin.get("/jobs")
    await callers.once()
    [row] = await query(store, "select last_used_at from api_key")
    assert row["last_used_at"] is not None
