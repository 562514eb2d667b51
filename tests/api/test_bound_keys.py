"""A key that is bound to jobs by labels does to these what its roles allow, and neither sees nor changes any others."""

import pytest

from horae.security.roles import ACTIONS, Role
from horae.service.context import Context
from horae.service.identity import api_keys
from tests.api.calls import CALLS
from tests.api.test_document import operations
from tests.api.world import a_world, asking, own_shards

NEUTRAL = {"GET /api/v1/jobs", "POST /api/v1/preview", "GET /api/v1/roles", "GET /api/v1/me"} | {
    name for name in CALLS if name.startswith(("GET /api/v1/calendars", "POST /api/v1/calendars"))
}
"""What a bound key may ask without naming a job."""
NOT_SO = {"GET /api/v1/instances", "POST /api/v1/jobs", "PUT /api/v1/jobs/{job}"} | {
    name for name in CALLS if name.startswith("POST /api/v1/plans")
}
"""What it may do, but not as these calls ask: for all jobs, or for a job without the labels of the key."""
LAST = {"DELETE /api/v1/jobs/{job}", "POST /api/v1/dead-letters/{instance}/discard"}
"""After these the job or the dead letter of the other calls is gone."""


@pytest.fixture
def app(whole):
    return whole


@pytest.fixture
async def acme(app, store):
    await own_shards(store)
    return await a_world(app, store, "acme", width=16)


async def bound_client(app, store, world, labels):
    """A client of an admin and worker who is bound to jobs with these labels."""
    ctx = Context.of(store, world.tenant, "test")
    text = (await api_keys.create(ctx, "bound", [Role.ADMIN, Role.WORKER], job_labels=labels)).text
    return asking(app, text)


def guarded(app):
    """Every operation that needs a credential, with its action; what takes a job away comes last."""
    found = [(name, facts["x-horae-action"]) for name, facts in operations(app).items() if "x-horae-action" in facts]
    return sorted(found, key=lambda one: one[0] in LAST)


async def ask(client, name, world):
    method, path = name.split(" ", 1)
    call = CALLS[name](world)
    return await client.request(
        method, path.format(**call.path), params=call.query, json=call.body, headers=call.headers
    )


async def test_another_owners_jobs_are_refused_by_every_operation(app, store, acme):
    async with await bound_client(app, store, acme, {"secret": "of-others"}) as client:
        for name, action in guarded(app):
            answer = await ask(client, name, acme)
            expected = 200 if name in NEUTRAL else 403
            assert answer.status_code == expected, (name, action, answer.text)
            assert acme.secret not in answer.text.replace(f"'coupon-{acme.tenant.name}'", ""), name
            if name == "GET /api/v1/jobs":
                assert answer.json()["items"] == []


async def test_its_own_jobs_are_seen_and_changed_by_the_marked_operations_and_by_no_others(app, store, acme):
    async with await bound_client(app, store, acme, {"secret": acme.secret}) as client:
        for name, action in guarded(app):
            answer = await ask(client, name, acme)
            refused = name in NOT_SO or not ACTIONS[action].bound
            assert (answer.status_code == 403) is refused, (name, action, answer.text)


async def test_a_bound_key_cannot_make_take_or_give_away_a_job(app, store, acme):
    async with await bound_client(app, store, acme, {"team": "billing"}) as client:
        jobs, mine = "/api/v1/jobs", {"labels": {"team": "billing", "more": "x"}}
        assert (await client.post(jobs, json={"name": "a"})).status_code == 403
        made = await client.post(jobs, json={"name": "a"} | mine)
        assert made.status_code == 201, made.text
        given = await client.patch(f"{jobs}/a/labels", json={"labels": {"team": "others"}})
        assert given.status_code == 403
        assert (await client.patch(f"{jobs}/a/labels", json={"labels": {"team": None}})).status_code == 403
        assert (await client.patch(f"{jobs}/a/labels", json={"labels": {"more": "y"}})).status_code == 200
        changed = await client.put(f"{jobs}/a", json={"version": 2, "labels": {"team": "others"}})
        assert changed.status_code == 403
        taken = await client.patch(f"{jobs}/{acme.job}/labels", json={"labels": {"team": "billing"}})
        assert taken.status_code == 403
        assert [one["name"] for one in (await client.get(jobs)).json()["items"]] == ["a"]
        wanted = await client.get(jobs, params={"label": "team=others"})
        assert wanted.status_code == 403, wanted.text


async def test_a_bound_key_opens_no_session_and_makes_no_key(app, store, acme):
    ctx = Context.of(store, acme.tenant, "test")
    text = (await api_keys.create(ctx, "bound", [Role.ADMIN], job_labels={"team": "billing"})).text
    async with asking(app, text) as client:
        assert (await client.post("/login/key", json={"key": text})).status_code == 403
        assert (await client.post("/api/v1/keys", json={"name": "free", "roles": ["admin"]})).status_code == 403
    async with asking(app, acme.text) as client:
        made = await client.post(
            "/api/v1/keys", json={"name": "ci", "roles": ["editor"], "job_labels": {"horae.owner": "billing"}}
        )
        assert made.json()["job_labels"] == {"horae.owner": "billing"}
        listed = {one["name"]: one["job_labels"] for one in (await client.get("/api/v1/keys")).json()["items"]}
        assert (listed["ci"], listed["founder"]) == ({"horae.owner": "billing"}, {})


async def test_a_pipeline_plans_and_applies_the_jobs_of_its_owner_and_no_others(app, store, acme):
    source = {"owner": "billing", "jobs": {"invoice": {"cron": "0 9 * * *"}}}
    async with await bound_client(app, store, acme, {"horae.owner": "billing"}) as client:
        plan = await client.post("/api/v1/plans", json=source)
        assert plan.json()["counts"] == {"create": 1}, plan.text
        assert (await client.post("/api/v1/plans/apply", json=source)).is_success
        assert (await client.post("/api/v1/plans", json=source)).json()["counts"] == {"keep": 1}
        taken = source | {"jobs": {f"coupon-{acme.tenant.name}": {"cron": "0 9 * * *"}}}
        for path in ("/api/v1/plans", "/api/v1/plans/apply"):
            assert (await client.post(path, json=source | {"owner": "stock"})).status_code == 403
            assert (await client.post(path, json=taken | {"force": True})).status_code == 403
