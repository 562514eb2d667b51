"""Everything the OpenAPI document offers, asked by everyone, about one's own things and about others'.

What is expected comes from the table of roles alone.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import httpx2
import pytest

from horae.domain.ids import Prefix, private
from horae.domain.tenants.tenants import SYSTEM
from horae.security.roles import ACTIONS, ANONYMOUS, Role, may
from horae.service.context import Context, PlatformContext
from horae.service.identity import api_keys
from horae.service.tenants import lifecycle, tenants
from tests.api.calls import CALLS, Call
from tests.api.world import a_world, asking, end_incidents, own_shards
from tests.steps import query

pytestmark = pytest.mark.timeout(600)

MADE_BY_NAME = {
    "PUT /api/v1/calendars/{calendar}",
    "PUT /api/v1/secrets/{name}",
    "PUT /api/v1/subscriptions/{name}",
    "PUT /api/v1/intakes/{name}",
    "PUT /api/v1/alert-channels/{name}",
    "PUT /api/v1/alert-rules/{name}",
    "PUT /api/v1/silences/{name}",
}
NAMED_FOR_ALL = {"POST /api/v1/measures/{name}/override", "POST /api/v1/measures/{name}/lift"}
"""Operations on things of the platform, whose names are the same for every tenant."""


@pytest.fixture
def app(whole):
    return whole


@pytest.fixture
async def acme(app, store):
    await own_shards(store)
    return await a_world(app, store, "acme", width=16)


@pytest.fixture
async def globex(app, store):
    return await a_world(app, store, "globex", width=16)


def operations(app) -> dict[str, dict[str, Any]]:
    paths = app.openapi()["paths"]
    return {f"{method.upper()} {path}": facts for path, methods in paths.items() for method, facts in methods.items()}


async def send(client: httpx2.AsyncClient, name: str, call: Call) -> httpx2.Response:
    method, _, path = name.partition(" ")
    return await client.request(
        method, path.format(**call.path), params=call.query, json=call.body, headers=call.headers
    )


def foreign(mine: Call, theirs: Call) -> Iterator[tuple[str, Call]]:
    """My call with one of its ids replaced by theirs, for each id, and with all of them."""
    places = list(_differing(mine._asdict(), theirs._asdict(), ()))
    for chosen in [[place] for place in places] + ([places] if len(places) > 1 else []):
        made = deepcopy(mine._asdict())
        for place in chosen:
            _put(made, place, _at(theirs._asdict(), place))
        yield ", ".join(".".join(map(str, place)) for place in chosen), Call(**made)


def _differing(mine: Any, theirs: Any, place: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if isinstance(mine, dict | list):
        for key in mine if isinstance(mine, dict) else range(len(mine)):
            yield from _differing(mine[key], theirs[key], (*place, key))
    elif mine != theirs:
        yield place


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


def _put(value: Any, place: tuple[Any, ...], new: Any) -> None:
    _at(value, place[:-1])[place[-1]] = new


def test_every_operation_of_the_document_has_its_call(app):
    assert set(CALLS) == set(operations(app))


def test_every_id_in_a_path_is_one_that_differs_between_tenants(acme, globex, app):
    """So that the matrix replaces it: all but numbers, business keys and what is named by who asks."""
    free = {("version",), ("key",)}
    for name, facts in operations(app).items():
        mine, theirs = CALLS[name](acme), CALLS[name](globex)
        same = {(key,) for key, value in mine.path.items() if value == theirs.path[key]} - free
        assert not same or name in MADE_BY_NAME | NAMED_FOR_ALL, (name, same)
        assert {one["name"] for one in facts.get("parameters", []) if one["in"] == "path"} == set(mine.path)


async def test_every_operation_does_what_it_says_and_leaves_as_many_audit_rows_as_the_table_has(app, store, acme):
    system = await tenants.create(PlatformContext(store, "test"), SYSTEM, width=1)
    platform = (await api_keys.create(Context.of(store, system, "test"), "all", [Role.ADMIN])).text
    for number, (name, facts) in enumerate(operations(app).items()):
        action = facts.get("x-horae-action")
        audited = action is not None and ACTIONS[action].audited
        told = PAGES_OR_JOBS.get(action or name, int(audited))
        answer, written = await done(app, store, platform, name, action, acme) if action not in ALONE else (None, 0)
        if answer is None or not answer.is_success:  # what was done before it left nothing to do: in a world of its own
            assert written == 0, name
            alone = await a_world(app, store, f"t{number}")
            answer, written = await done(app, store, platform, name, action, alone)
        assert answer.is_success, (name, answer.status_code, answer.text)
        assert written == told, (name, written)


PAGES_OR_JOBS = {
    "backfill_groups.pause": 1,
    "backfill_groups.resume": 1,
    "backfill_groups.cancel": 1,
    "dead_letters.replay_many": 1,
    "dead_letters.discard_many": 1,
    "dead_letters.tag": 1,
    "plans.apply": 1,
    "POST /login/key": 1,
}
"""Actions that leave an audit row for each page or job."""
ALONE = {"jobs.remove", "tenant.pause", "tenant.resume", "tenants.pause", "tenants.resume", "tenants.remove"}
ALONE |= {"dead_letters.discard_many", "dead_letters.tag"}
"""Actions after which a world is not what it was, or that need dead letters which others have replayed."""


async def done(app, store, platform: str, name: str, action: str | None, world) -> tuple[httpx2.Response, int]:
    """An operation's answer by one who may, and how many audit rows it left."""
    text = platform
    if action is not None and not ACTIONS[action].platform:
        ctx = Context.of(store, world.tenant, "test")
        text = (await api_keys.create(ctx, name[:100].replace("/", " "), [Role.ADMIN, Role.WORKER])).text
    if action == "tenant.resume":
        await lifecycle.pause(PlatformContext(store, "test"), world.tenant.name)
    if action == "tenants.resume":
        await lifecycle.pause(PlatformContext(store, "test"), world.paused_victim)
    if action == "incidents.start":
        await end_incidents(store)
    call = CALLS[name](world)
    if name.startswith("POST /api/v1/jobs/") and name.endswith(("/skip", "/move", "/restore")):
        call = await upcoming(app, text, name, call)
    before = await audit_rows(store)
    async with asking(app, text) as client:
        answer = await send(client, name, call)
    return answer, await audit_rows(store) - before


async def upcoming(app, text: str, name: str, call: Call) -> Call:
    """The same call about the job's next fire; what is restored was skipped before."""
    async with asking(app, text) as client:
        at = (await client.get(f"/api/v1/jobs/{call.path['job']}")).json()["schedule"]["fires"][1]["fire_time"]
        if name.endswith("/restore"):
            await client.post(f"/api/v1/jobs/{call.path['job']}/skip", json={"at": at})
    to = {"to": at.replace(":00Z", ":30Z")} if "to" in call.body else {}
    return call._replace(body={"at": at} | to)


async def audit_rows(store) -> int:
    return len(await query(store, "select from audit_log"))


async def credentials(store, world) -> dict[str, str | None]:
    """Everyone who must be told 401."""
    ctx = Context.of(store, world.tenant, "test")
    revoked = await api_keys.create(ctx, "revoked", [Role.ADMIN, Role.WORKER])
    await api_keys.revoke(ctx, private(Prefix.KEY, revoked.key.principal))
    expired = await api_keys.create(ctx, "expired", [Role.ADMIN, Role.WORKER])
    await query(store, "update api_key set expires_at = now() - interval '1 hour' where id = $1", expired.key.id)
    good = (await api_keys.create(ctx, "good", [Role.ADMIN, Role.WORKER])).text
    return {
        "none": None,
        "nonsense": "x",
        "another secret": good[:-15] + "x" * 6 + good[-9:],
        "revoked": revoked.text,
        "expired": expired.text,
    }


async def test_no_operation_opens_to_a_credential_that_is_not_good(app, store, acme):
    for who, text in (await credentials(store, acme)).items():
        async with asking(app, text) as client:
            for name, facts in operations(app).items():
                answer = await send(client, name, CALLS[name](acme))
                if name.split()[1] in ANONYMOUS:
                    assert (answer.status_code, "security" in facts) == (200, False), name
                    continue
                assert (answer.status_code, answer.json()["code"]) == (401, "SCH_401_UNAUTHENTICATED"), (who, name)
                assert acme.secret not in answer.text


ROLES = [*(role for role in Role if role is not Role.ADMIN), Role.ADMIN]
"""Who may least comes first: all of them ask about the same worlds."""


async def test_a_role_may_do_what_the_table_says_and_sees_nothing_of_another_tenant(app, store, acme, globex):
    for role in ROLES:
        text = (await api_keys.create(Context.of(store, acme.tenant, "test"), role, [role])).text
        async with asking(app, text) as client:
            asked = [await matrix(client, name, facts, role, acme, globex) for name, facts in operations(app).items()]
        assert sum(asked) >= 50


async def matrix(client: httpx2.AsyncClient, name: str, facts: dict[str, Any], role: Role, acme, globex) -> int:
    """One operation about one's own things, and with another tenant's id in each place; says how many there are."""
    action = facts.get("x-horae-action")
    if action is None:
        return 0
    allowed = may(action, [role], [], platform=False)
    mine, theirs = (own_key(CALLS[name](world), role) for world in (acme, globex))
    calls = list(foreign(mine, theirs))
    for what, call in calls:
        check_foreign(await send(client, name, call), allowed, globex, (role, name, what))
    answer = await send(client, name, mine)
    assert (answer.status_code == 403) is not allowed, (role, name, answer.text)
    assert answer.status_code != 401
    assert globex.secret not in answer.text, (role, name)
    return len(calls)


def own_key(call: Call, role: Role) -> Call:
    """The same call with an Idempotency-Key that no other role used."""
    return call._replace(headers={"Idempotency-Key": role} if call.headers else {})


def check_foreign(answer: httpx2.Response, allowed: bool, theirs, what) -> None:
    """Someone else's thing is not there: 404, refused where a value is refused, or nothing in a batch or page."""
    assert theirs.secret not in answer.text, what
    if not allowed:
        assert answer.status_code == 403, (what, answer.text)
        return
    if answer.status_code != 200:
        assert answer.status_code in {404, 422}, (what, answer.text)
        return
    told = answer.json()
    for item in told["items"] if "items" in told else told["jobs"]:  # a poll, page or preview has none; a batch refuses
        assert item.get("status") == 409 or item.get("yours") is False, (what, answer.text)


NAMES_HOSTS = {"GET /api/v1/scheduler/health"}
"""What names the hosts of targets that do not answer, so that those who run the platform know the cause."""


async def test_a_role_of_the_platform_may_manage_tenants_and_sees_nothing_of_theirs(app, store, acme):
    system = await tenants.create(PlatformContext(store, "test"), SYSTEM, width=1)
    for role in ROLES:
        text = (await api_keys.create(Context.of(store, system, "test"), role, [role])).text
        async with asking(app, text) as client:
            for name, facts in operations(app).items():
                action = facts.get("x-horae-action")
                if action is None:
                    continue
                allowed = may(action, [role], [], platform=True)
                answer = await send(client, name, own_key(CALLS[name](acme), role))
                assert (answer.status_code == 403) is not allowed, (role, name, answer.text)
                if name not in NAMES_HOSTS:
                    assert acme.secret not in answer.text, (role, name)


ONE_ROW = {"jobs.problems"}
"""Lists that have one row in a world, and so no second page."""


async def test_a_cursor_of_another_tenant_opens_nothing(app, store, acme, globex):
    texts = [
        (await api_keys.create(Context.of(store, world.tenant, "test"), "all", [Role.ADMIN])).text
        for world in (acme, globex)
    ]
    paged = [
        name
        for name, facts in operations(app).items()
        if any(one["name"] == "cursor" for one in facts.get("parameters", []))
        and not ACTIONS[facts["x-horae-action"]].platform
        and facts["x-horae-action"] not in ONE_ROW
    ]
    assert len(paged) >= 10
    async with asking(app, texts[0]) as mine, asking(app, texts[1]) as theirs:
        for name in paged:
            first = await send(theirs, name, shortened(CALLS[name](globex)))
            cursor = first.json()["next"]
            assert cursor, (name, first.text)
            assert (await send(theirs, name, shortened(CALLS[name](globex), cursor=cursor))).status_code == 200, name
            answer = await send(mine, name, shortened(CALLS[name](acme), cursor=cursor))
            assert (answer.status_code, answer.json()["code"]) == (422, "SCH_422_INVALID"), name
            answer = await send(mine, name, shortened(CALLS[name](globex), cursor=cursor))
            assert answer.status_code in {404, 422}, name
            assert globex.secret not in answer.text


def shortened(call: Call, **query_: Any) -> Call:
    return call._replace(query=call.query | {"limit": 1} | query_)
