"""People log in at a real issuer, over sockets, with a door and an issuer that are processes of their own."""

import asyncio
from time import monotonic
from urllib.parse import parse_qs, urlsplit

import pytest

from horae.security import cookies
from horae.security.roles import Role
from tests.people.browser import HERE, Browser
from tests.people.conftest import a_door, bind, control, our_issuer, packaged_issuer
from tests.people.forgeries import ALL
from tests.steps import query

SESSION = cookies.SESSION
CALLBACK = "/login/callback"


async def logged_in(browser, url="/login"):
    """The whole way, for as long as the issuer sends the browser on by itself."""
    return await browser.follow(url, until="/")


async def test_a_person_walks_from_login_to_logout_at_somebody_elses_issuer(store, cells, tenant, other, tmp_path):
    await bind(store, tenant, "group:operations", Role.OPERATOR)
    await bind(store, other, "user:alice", Role.ADMIN)
    alice = {"sub": "alice", "name": "Alice", "groups": ["operations", "elsewhere"]}
    with packaged_issuer(alice) as issuer:
        async with a_door(tmp_path, cells, issuer) as door, Browser(door.port) as browser:
            url, page = await browser.follow("/login?tenant=acme")
            assert urlsplit(url).path == "/oauth2/authorize"
            asked = parse_qs(urlsplit(url).query)
            assert asked["code_challenge_method"] == ["S256"]
            url, _ = await browser.submit(url, page.text, sub="alice")
            assert urlsplit(url).path == "/console/"

            me = (await browser.ask("GET", "/api/v1/me")).json()
            assert (me["principal"], me["name"], me["kind"]) == ("user:alice", "Alice", "person")
            assert (me["tenant"], me["tenants"], me["roles"]) == ("acme", ["acme", "globex"], ["operator"])
            assert "jobs.pause" in me["actions"]
            assert "jobs.create" not in me["actions"]
            said = next(line for line in browser.said if line.startswith(f"{SESSION}="))
            for word in ("Secure", "HttpOnly", "SameSite=Lax", "Path=/"):
                assert word in said
            assert "Domain" not in said

            csrf = {cookies.HEADER: me["session"]["csrf"]}
            before = browser.cookies[HERE][SESSION]
            moved = await browser.ask("PUT", "/api/v1/session/tenant", json={"tenant": "globex"}, headers=csrf)
            assert (moved.json()["tenant"], moved.json()["roles"]) == ("globex", ["admin"])
            assert browser.cookies[HERE][SESSION] != before
            csrf = {cookies.HEADER: moved.json()["session"]["csrf"]}
            made = await browser.ask("POST", "/api/v1/jobs", json={"name": "j"}, headers=csrf)
            assert made.status_code == 201
            rows = await query(store, "select actor from audit_log where action = 'job.created'")
            assert {row["actor"] for row in rows} == {"user:alice"}

            kept = browser.cookies[HERE][SESSION]
            ended = await browser.ask("DELETE", "/api/v1/session", headers=csrf)
            assert ended.json() == {"ended": 1}
            assert SESSION not in browser.cookies[HERE]
            browser.cookies[HERE][SESSION] = kept
            began = monotonic()
            while (await browser.ask("GET", "/api/v1/me")).status_code != 401:
                assert monotonic() - began < 5
                await asyncio.sleep(0.1)


@pytest.mark.timeout(300)
async def test_no_forged_token_opens_a_session_and_keys_may_be_rotated(store, cells, tenant, tmp_path):
    await bind(store, tenant, "group:operations", Role.VIEWER)
    assert len(ALL) >= 30
    with our_issuer() as issuer:
        async with a_door(tmp_path, cells, issuer) as door:
            async with Browser(door.port) as browser:  # so that there is a token and a nonce before
                url, _ = await logged_in(browser)
                assert urlsplit(url).path == "/"
            names = list(ALL)
            for number, some in enumerate([names[start : start + 15] for start in range(0, len(names), 15)]):
                async with Browser(door.port, f"127.0.1.{number + 1}") as browser:  # who fails often has to wait
                    for name in some:
                        await browser.ask("POST", f"{issuer}/control", json={"forge": name})
                        _, answer = await logged_in(browser)
                        assert (answer.status_code, answer.json()["code"]) == (401, "SCH_401_UNAUTHENTICATED"), name
                        assert SESSION not in browser.cookies.get(HERE, {}), name
            read = (await asyncio.to_thread(control, issuer, forge=None))["jwks_read"]
            assert read <= 4, "keys are read anew for a name that is not among them, and for nothing else"
            assert len(await query(store, "select from session")) == 1
            await _rotated(door, issuer)
            await _replayed(door, issuer)
            await _without_a_role(door, issuer)
    assert len(await query(store, "select from session where name = 'Alice'")) >= 4


async def _rotated(door, issuer):
    """New keys: the first login finds them, and those signed with the key before are still good."""
    for _ in range(3):
        await asyncio.to_thread(control, issuer, rotate=True)
        async with Browser(door.port, "127.0.2.1") as browser:
            url, answer = await logged_in(browser)
            assert urlsplit(url).path == "/", answer.text


async def _replayed(door, issuer):
    """States, codes and cookies of another login, or used before."""
    async with Browser(door.port, "127.0.3.1") as browser, Browser(door.port, "127.0.3.2") as thief:
        back, _ = await browser.follow("/login", until=CALLBACK)
        stolen, _ = await thief.follow("/login", until=CALLBACK)
        code, state = (parse_qs(urlsplit(stolen).query)[name][0] for name in ("code", "state"))
        mine = parse_qs(urlsplit(back).query)["state"][0]
        kept = dict(browser.cookies[HERE])
        for url in (
            f"{CALLBACK}?code={code}&state={state}",  # the thief's state with my cookie
            f"{CALLBACK}?code={code}&state={mine}",  # the thief's code with my state: its verifier is not mine
            f"{CALLBACK}?code=made-up&state={mine}",
            f"{CALLBACK}?code={code}",
            f"{CALLBACK}?error=access_denied&state={mine}",
            f"{back}&iss=https%3A%2F%2Fevil.example".replace("iss=http%3A", "ignored=http%3A", 1),
            CALLBACK,
        ):
            browser.cookies[HERE] = dict(kept)
            answer = await browser.ask("GET", url)
            assert answer.status_code == 401, url
        browser.cookies[HERE] = {cookies.LOGIN: kept[cookies.LOGIN][:-2] + "xx"}
        assert (await browser.ask("GET", back)).status_code == 401
        browser.cookies[HERE] = {}
        assert (await browser.ask("GET", back)).status_code == 401

    async with Browser(door.port, "127.0.3.3") as browser:
        await asyncio.to_thread(control, issuer, lax=True)  # an issuer that gives a code twice
        back, _ = await browser.follow("/login", until=CALLBACK)
        kept = dict(browser.cookies[HERE])
        assert (await browser.ask("GET", back)).status_code == 303
        browser.cookies[HERE] = kept
        again = await browser.ask("GET", back)
        assert (again.status_code, "used before" in again.text) == (401, True)
        await asyncio.to_thread(control, issuer, lax=False)


async def _without_a_role(door, issuer):
    await asyncio.to_thread(control, issuer, user={"sub": "bob", "groups": ["nobodies"]})
    async with Browser(door.port, "127.0.4.1") as browser:
        _, answer = await logged_in(browser)
        assert (answer.status_code, answer.json()["code"]) == (403, "SCH_403_FORBIDDEN")
        assert (await browser.ask("GET", "/login/options")).json() == {"oidc": True, "key": True}
