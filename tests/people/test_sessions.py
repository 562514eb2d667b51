"""Sessions: what opens them, what they may, what other sites cannot do with them, and how they end."""

import re
from datetime import timedelta

import httpx2
import pytest

from horae.boot.api_server import app_of
from horae.runtime.settings import Settings
from horae.security import cookies, credentials
from horae.security.roles import Role
from horae.service.context import Context, PlatformContext
from horae.service.identity import api_keys, sessions
from horae.service.identity.callers import Callers
from horae.service.identity.sessions import SessionRequest, Terms
from horae.upkeep.idempotency import Forgetter
from tests.people.conftest import bind
from tests.steps import move_clock, query, until


@pytest.fixture
async def alice(store, doors, tenant, app):
    """Alice with her browser: an operator of acme, by her group."""
    await bind(store, tenant, "group:operations", Role.OPERATOR)
    opened = await sessions.open_for(
        PlatformContext(doors, "test"), SessionRequest(tenant, "user:alice", "Alice", ("operations",)), Terms()
    )
    async with visitor(app, cookies.text_of(opened.credential)) as client:
        me = (await client.get("/me")).json()
        client.headers[cookies.HEADER] = me["session"]["csrf"]
        yield client


def visitor(app, text):
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    headers = {"Cookie": f"{cookies.SESSION}={text}"}
    return httpx2.AsyncClient(transport=transport, base_url="http://horae.test/api/v1", headers=headers)


async def test_a_session_may_what_its_roles_may_and_its_tenant_is_the_only_one(alice, admin, client, other):
    await admin.post("/jobs", json={"name": "j", "cron": "* * * * *"})
    await (await client(Role.ADMIN, of=other)).post("/jobs", json={"name": "theirs", "cron": "* * * * *"})
    assert (await alice.post("/jobs/j/pause")).status_code == 200
    assert (await alice.post("/jobs/theirs/pause")).status_code == 404
    assert (await alice.post("/jobs", json={"name": "k"})).status_code == 403
    [line] = [one for one in (await admin.get("/audit")).json()["items"] if one["action"] == "job.paused"]
    assert line["actor"] == "user:alice"
    assert (await alice.put("/session/tenant", json={"tenant": "globex"})).status_code == 404


async def test_roles_bound_to_a_group_are_taken_away_within_five_seconds(alice, admin):
    assert (await alice.get("/jobs")).status_code == 200
    assert (await admin.put("/role-bindings/group:operations", json={"roles": []})).status_code == 200

    async def refused():
        return (await alice.get("/jobs")).status_code == 403

    assert await until(refused) < 5


async def test_people_and_groups_are_bound_by_name_and_nothing_else_is(admin):
    for principal in ("group:/staff/on call", "user:248289761001"):
        bound = await admin.put(f"/role-bindings/{principal}", json={"roles": ["viewer"]})
        assert (bound.status_code, bound.json()["principal"]) == (200, principal)
        assert principal in {one["principal"] for one in (await admin.get("/role-bindings")).json()["items"]}
    for principal in ("group:", "user:", "nobody:x", "alice", "group:%0a", "key_x"):
        assert (await admin.put(f"/role-bindings/{principal}", json={"roles": ["viewer"]})).status_code in {404, 422}


HOSTILE = {
    "no token": {cookies.HEADER: ""},
    "another session's token": {cookies.HEADER: "0" * 64},
    "a form of another site": {"Sec-Fetch-Site": "cross-site"},
    "a page of a neighbour": {"Sec-Fetch-Site": "same-site"},
    "another origin": {"Origin": "https://evil.example"},
    "an origin that is nobody": {"Origin": "null"},
    "an origin that cannot be read": {"Origin": "http://["},
    "our origin on another port": {"Origin": "http://horae.test:8443"},
    "an origin that begins like ours": {"Origin": "http://horae.test.evil.example"},
    "an origin with a name before ours": {"Origin": "http://evil@horae.test"},
}


async def test_no_change_that_another_site_may_have_caused_is_done(alice, admin):
    await admin.post("/jobs", json={"name": "j", "cron": "* * * * *"})
    for what, headers in HOSTILE.items():
        for method, path in (("POST", "/jobs/j/pause"), ("DELETE", "/session"), ("PUT", "/session/tenant")):
            answer = await alice.request(method, path, headers=headers, json={"tenant": "acme"})
            assert (answer.status_code, answer.json()["code"]) == (403, "SCH_403_FORBIDDEN"), what
    assert (await admin.get("/jobs/j")).json()["status"] == "ACTIVE"
    own = {"Origin": "http://horae.test", "Sec-Fetch-Site": "same-origin"}
    assert (await alice.post("/jobs/j/pause", headers=own)).status_code == 200


async def test_a_key_is_exchanged_for_a_session_that_ends_with_it(anyone, key, app, store, admin, client):
    text = await key(Role.EDITOR, name="ci", scopes=["jobs.*"])
    answer = await anyone.post("/login/key", json={"key": text})
    assert answer.status_code == 200
    assert (answer.json()["kind"], answer.json()["name"], answer.json()["tenants"]) == ("key", "ci", ["acme"])
    said = answer.headers["set-cookie"]
    assert all(word in said for word in ("Secure", "HttpOnly", "SameSite=Lax", "Path=/"))
    async with visitor(app, said.partition("=")[2].partition(";")[0]) as browser:
        browser.headers[cookies.HEADER] = answer.json()["session"]["csrf"]
        assert (await browser.post("/jobs", json={"name": "j"})).status_code == 201
        assert (await browser.get("/tenant")).status_code == 403  # its scopes narrow it
        [found] = [one for one in (await admin.get("/keys")).json()["items"] if one["name"] == "ci"]
        await admin.delete(f"/keys/{found['id']}")

        async def refused():
            return (await browser.get("/jobs")).status_code == 401

        assert await until(refused) < 5
    rows = await query(store, "select * from session")
    assert len(rows) == 1
    assert text not in str(rows)
    assert said.partition("=")[2].partition(";")[0] not in str(rows)


async def test_a_bad_key_opens_no_session_and_other_sites_cannot_post_one(anyone, key):
    good = await key(Role.VIEWER)
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "http://["}, {"Sec-Fetch-Site": "cross-site"}):
        answer = await anyone.post("/login/key", json={"key": good}, headers=headers)
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    form = {"Content-Type": "text/plain"}
    assert (await anyone.post("/login/key", content=f'{{"key": "{good}"}}', headers=form)).status_code == 415
    codes = [(await anyone.post("/login/key", json={"key": "horae_x"})).status_code for _ in range(30)]
    assert (codes[0], codes[-1]) == (401, 429)
    assert "set-cookie" in (await anyone.post("/login/key", json={"key": good})).headers  # a good one is always let in


async def test_a_session_is_never_one_that_a_browser_came_with(anyone, key, alice):
    planted = alice.headers["Cookie"]
    answer = await anyone.post("/login/key", json={"key": await key(Role.VIEWER)}, headers={"Cookie": planted})
    assert answer.status_code == 200
    assert answer.headers["set-cookie"].partition(";")[0] not in planted


async def test_a_session_ends_when_it_is_not_used_and_at_last_in_any_case(alice, app, store):
    visitors = app.state.gate.visitors
    for _ in range(14):
        await move_clock(store, minutes=50)
        assert (await _asked(alice, visitors)) == 200
        await visitors.once()
    await move_clock(store, minutes=50)  # twelve hours are over
    assert (await _asked(alice, visitors)) == 401


async def test_an_idle_session_ends(alice, app, store):
    await move_clock(store, minutes=61)
    assert (await _asked(alice, app.state.gate.visitors)) == 401


async def _asked(browser, visitors):
    for cell in visitors._store.cells:
        await cell.sync_clock()
    visitors._known.clear()
    return (await browser.get("/jobs")).status_code


async def test_an_admin_sees_sessions_and_ends_one_everywhere_within_five_seconds(alice, admin, settings, doors, store):
    others = [app_of(settings, doors, Callers(doors)) for _ in range(3)]
    browsers = [visitor(app, alice.headers["Cookie"].partition("=")[2]) for app in others]
    for browser in browsers:
        assert (await browser.get("/me")).status_code == 200
    [found] = (await admin.get("/sessions")).json()["items"]
    assert (found["principal"], found["name"]) == ("user:alice", "Alice")
    assert alice.headers["Cookie"].partition("=")[2] not in str(found)
    assert (await admin.delete(f"/sessions/{found['id']}")).json() == {"ended": 1}
    assert (await admin.delete(f"/sessions/{found['id']}")).status_code == 404

    async def refused():
        return {(await browser.get("/me")).status_code for browser in (alice, *browsers)} == {401}

    assert await until(refused) < 5
    for browser in browsers:
        await browser.aclose()
    assert len(await query(store, "select from audit_log where action = 'session.revoked'")) == 1


async def test_log_out_everywhere_ends_every_session_of_a_person_in_every_tenant(alice, store, doors, tenant, other):
    await bind(store, other, "user:alice", Role.VIEWER)
    for where in (tenant, other):
        await sessions.open_for(PlatformContext(doors, "test"), SessionRequest(where, "user:alice", "Alice"), Terms())
        await sessions.open_for(PlatformContext(doors, "test"), SessionRequest(where, "user:bob", "Bob"), Terms())
    assert (await alice.delete("/session", params={"everywhere": True})).json() == {"ended": 3}
    rows = await query(store, "select principal from session where ended_at is null")
    assert [row["principal"] for row in rows] == ["user:bob", "user:bob"]


async def test_a_cookie_that_is_no_session_of_ours_opens_nothing(app, key, alice, store):
    text = await key(Role.ADMIN)
    _, id_, secret, _ = text.split("_")
    cookie = alice.headers["Cookie"].partition("=")[2]
    [row] = await query(store, "select digest from session")
    tries = [id_ + secret, cookie[:-1] + ("x" if cookie[-1] != "x" else "y"), cookie[:26] + row["digest"].hex()[:52]]
    tries += [cookie.upper(), "x", "0" * 78, cookie + "x", text, "~" * 78]
    for one in tries:
        async with visitor(app, "") as browser:
            browser.headers["Cookie"] = f"{cookies.SESSION}={one}"
            answer = await browser.get("/jobs")
            assert answer.status_code == 401, one
    async with visitor(app, cookie) as browser:
        browser.headers["Authorization"] = f"Bearer horae_{cookie[:26]}_{cookie[26:]}_00000000"
        assert (await browser.get("/jobs")).status_code == 401


async def test_a_credential_in_the_header_goes_before_the_cookie(alice, key):
    text = await key(Role.VIEWER, name="other")
    me = (await alice.get("/me", headers={"Authorization": f"Bearer {text}"})).json()
    assert (me["kind"], me["name"], me["session"]) == ("key", "other", None)


async def test_every_key_may_ask_who_it_is_whatever_its_scopes(client):
    for role in Role:
        me = (await (await client(role, scopes=["jobs.list"])).get("/me")).json()
        assert (me["kind"], me["roles"], me["tenants"]) == ("key", [role], ["acme"])
        assert set(me["actions"]) <= {"jobs.list", "me.read", "session.choose", "session.end"}


async def test_sessions_that_are_over_are_taken_away_after_a_day(alice, store):
    await move_clock(store, hours=35)
    assert await Forgetter(store).once() == 0
    await move_clock(store, hours=2)
    assert await Forgetter(store).once() == 1
    assert await query(store, "select from session") == []


async def test_where_no_issuer_is_configured_nobody_is_sent_to_one(anyone):
    assert (await anyone.get("/login/options")).json() == {"oidc": False, "key": True}
    for path in ("/login", "/login/callback?code=x&state=y"):
        assert (await anyone.get(path)).status_code == 404


def test_an_issuer_whose_tokens_anybody_could_sign_cannot_be_configured():
    told = {"issuer": "https://i", "client_id": "c", "redirect_url": "https://h/login/callback"}
    assert Settings(oidc=told).oidc.algorithms == ("RS256", "PS256", "ES256")
    for algorithm in ("none", "HS256", "EdDSA", "rs256"):
        with pytest.raises(ValueError, match="algorithms"):
            Settings(oidc=told | {"algorithms": [algorithm]})


async def test_a_login_that_takes_long_or_was_used_opens_nothing(store, doors, tenant):
    wanted = SessionRequest(tenant, "user:alice", "Alice", login=bytes(32))
    await sessions.open_for(PlatformContext(doors, "test"), wanted, Terms(timedelta(hours=1), timedelta(hours=1)))
    with pytest.raises(Exception, match="used before"):
        await sessions.open_for(PlatformContext(doors, "test"), wanted, Terms())


async def test_a_session_of_a_key_does_not_outlive_a_change_of_its_roles(store, doors, tenant, app):
    made = await api_keys.create(Context.of(store, tenant, "test"), "k", [Role.VIEWER])
    caller = await app.state.gate.callers.find(credentials.read(made.text))
    opened = await sessions.open_with_key(PlatformContext(doors, "test"), caller, Terms())
    async with visitor(app, cookies.text_of(opened.credential)) as browser:
        assert (await browser.get("/jobs")).status_code == 200
        await bind(store, tenant, made.key.principal)  # to nothing

        async def refused():
            return (await browser.get("/jobs")).status_code == 403

        assert await until(refused) < 5


async def test_the_document_describes_the_login_and_every_reference_in_it_leads_somewhere(app):
    made = app.openapi()
    for reference in set(re.findall(r"#/components/schemas/([^\"']+)", str(made))):
        assert reference in made["components"]["schemas"], reference
    assert {"200", "401", "429"} <= set(made["paths"]["/login/key"]["post"]["responses"])


async def test_requests_are_counted_under_the_paths_of_the_document(admin, platform):
    await admin.put("/role-bindings/group:a", json={"roles": ["viewer"]})
    counted = (await platform.get("http://horae.test/metrics")).text
    assert 'route="/api/v1/role-bindings/{principal}"' in counted
