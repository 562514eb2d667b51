from uuid import UUID

from horae.domain.ids import Prefix, private, public
from horae.domain.tenants.tenants import SYSTEM
from horae.security.roles import Role
from horae.service.context import PlatformContext
from horae.service.tenants import tenants
from tests.steps import move_clock, query


async def test_the_platform_makes_a_tenant_and_its_first_key(platform, app):
    made = await platform.post("/tenants", json={"name": "initech", "zone": "Asia/Shanghai"})
    assert made.status_code == 201
    assert (await platform.post("/tenants", json={"name": "initech"})).status_code == 409
    first = await platform.post("/tenants/initech/keys", json={"name": "first", "roles": ["admin"]})
    assert first.status_code == 201
    headers = {"Authorization": f"Bearer {first.json()['key']}"}
    own = await platform.get("/tenant", headers=headers)
    assert (own.json()["name"], own.json()["zone"]) == ("initech", "Asia/Shanghai")
    job = await platform.post("/jobs", json={"name": "j", "cron": "0 8 * * *"}, headers=headers)
    assert job.json()["trigger"]["zone"] == "Asia/Shanghai"


async def test_a_tenant_is_found_by_its_id_and_by_its_name(platform):
    id_ = (await platform.post("/tenants", json={"name": "initech"})).json()["id"]
    for ref in (id_, "initech"):
        assert (await platform.get(f"/tenants/{ref}")).json()["id"] == id_
        allowed = await platform.put(f"/tenants/{ref}/allowance", json={"weight": 3})
        assert (allowed.json()["id"], allowed.json()["allowance"]["weight"]) == (id_, 3)
        assert (await platform.post(f"/tenants/{ref}/keys", json={"name": ref, "roles": ["viewer"]})).status_code == 201
        assert (await platform.post(f"/tenants/{ref}/pause")).json() == {"name": "initech", "status": "PAUSED"}
        assert (await platform.get(f"/tenants/{ref}/status")).json()["status"] == "PAUSED"
        assert (await platform.post(f"/tenants/{ref}/resume")).json() == {"name": "initech", "status": "ACTIVE"}
    nobody = public(Prefix.TENANT, UUID(int=private(Prefix.TENANT, id_).int ^ 1))
    assert (await platform.get(f"/tenants/{nobody}")).status_code == 404
    removed = await platform.delete(f"/tenants/{id_}", params={"confirm": "initech"})
    assert (removed.status_code, removed.json()["name"]) == (202, "initech")
    assert (await platform.get(f"/tenants/{id_}")).status_code == 404


async def test_only_the_platform_manages_tenants(admin):
    for method, path in (("GET", "/tenants"), ("POST", "/tenants"), ("POST", "/tenants/acme/keys")):
        answer = await admin.request(method, path, json={})
        assert answer.json()["code"] == "SCH_403_FORBIDDEN"


async def test_a_key_is_shown_once(admin):
    made = (await admin.post("/keys", json={"name": "ci", "roles": ["operator"], "scopes": ["jobs.*"]})).json()
    assert made["key"].startswith("horae_")
    listed = (await admin.get("/keys")).json()["items"]
    assert [one["name"] for one in listed] == ["admin", "ci"]
    assert all("key" not in one for one in listed)
    assert (await admin.post("/keys", json={"name": "ci", "roles": ["viewer"]})).status_code == 409
    assert (
        await admin.post("/keys", json={"name": "x", "roles": ["viewer"], "scopes": ["no.such"]})
    ).status_code == 422


async def test_a_foreign_key_can_neither_be_revoked_nor_bound(admin, client, other, key):
    await key(Role.VIEWER, of=other)
    foreign = await client(Role.ADMIN, of=other)
    for one in (await foreign.get("/keys")).json()["items"]:
        assert (await admin.delete(f"/keys/{one['id']}")).status_code == 404
        assert (await admin.put(f"/role-bindings/{one['id']}", json={"roles": ["admin"]})).status_code == 404


async def test_every_audited_action_leaves_exactly_one_row(admin, platform, store):
    async def rows():
        return await query(store, "select action, actor from audit_log")

    async def one_more(answer, action):
        nonlocal seen
        assert answer.status_code < 300, answer.text
        new = await rows()
        assert len(new) == len(seen) + 1
        assert sum(row["action"] == action for row in new) > sum(row["action"] == action for row in seen)
        seen = new
        return answer.json()

    seen = await rows()
    await one_more(await admin.post("/jobs", json={"name": "j", "cron": "* * * * *"}), "job.created")
    await one_more(await admin.post("/jobs/j/pause"), "job.paused")
    await one_more(await admin.post("/jobs/j/resume"), "job.resumed")
    await one_more(await admin.delete("/jobs/j"), "job.removed")
    made = await one_more(await admin.post("/keys", json={"name": "k", "roles": ["viewer"]}), "key.created")
    await one_more(await admin.put(f"/role-bindings/{made['id']}", json={"roles": ["editor"]}), "roles.bound")
    await one_more(await admin.delete(f"/keys/{made['id']}"), "key.revoked")
    await one_more(await platform.post("/tenants", json={"name": "new"}), "tenant.created")
    await one_more(await platform.put("/tenants/new/allowance", json={"weight": 3}), "tenant.allowed")
    await one_more(await platform.post("/tenants/new/widen", json={"width": 256}), "tenant.widened")
    await one_more(await platform.post("/tenants/new/keys", json={"name": "k", "roles": ["admin"]}), "key.created")


async def test_the_audit_is_read_in_pages_newest_first(admin, client, store):
    for number in range(4):
        await admin.post("/jobs", json={"name": f"j{number}"})
        await move_clock(store, seconds=1)  # the clocks of two cells differ by some milliseconds
    seen, cursor = [], None
    while True:
        page = (await admin.get("/audit", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))).json()
        seen += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
    assert [one["detail"]["name"] for one in seen if one["action"] == "job.created"] == ["j3", "j2", "j1", "j0"]
    assert seen == sorted(seen, key=lambda one: one["at"], reverse=True)
    assert (await (await client(Role.OPERATOR)).get("/audit")).status_code == 403


async def test_a_narrowed_key_makes_no_key_and_binds_no_role_that_reaches_further(client):
    """F20: neither by leaving the scopes out nor by naming roles."""
    maker = await client(Role.ADMIN, scopes=["keys.create", "jobs.list"], name="maker")
    wide = {"name": "wide", "roles": ["admin"]}
    assert (await maker.post("/keys", json=wide)).status_code == 403
    assert (await maker.post("/keys", json=wide | {"scopes": ["jobs.*"]})).status_code == 403
    assert (await maker.post("/keys", json=wide | {"scopes": ["jobs.list"]})).status_code == 201
    binder = await client(Role.ADMIN, scopes=["bindings.put"], name="binder")
    for roles in (["admin"], ["viewer"]):
        assert (await binder.put("/role-bindings/user:mallory", json={"roles": roles})).status_code == 403


async def test_a_narrowed_key_of_the_platform_makes_no_wider_key_of_the_platform(store, tenant, platform, client):
    system = await tenants.find_by_ref(PlatformContext(store, "test"), SYSTEM)
    robot = await client(Role.ADMIN, of=system, scopes=["tenants.create", "tenants.keys.create"], name="robot")
    wide = {"name": "wide", "roles": ["admin"]}
    for ref in (SYSTEM, public(Prefix.TENANT, system.id)):
        assert (await robot.post(f"/tenants/{ref}/keys", json=wide)).status_code == 403
    narrow = wide | {"scopes": ["tenants.create"]}
    assert (await robot.post(f"/tenants/{SYSTEM}/keys", json=narrow | {"name": "narrow"})).status_code == 201
    assert (await robot.post(f"/tenants/{tenant.name}/keys", json=wide)).status_code == 201
    assert (await platform.post(f"/tenants/{SYSTEM}/keys", json=wide)).status_code == 201


async def test_an_admin_gives_every_role(admin):
    for role in Role:
        made = await admin.post("/keys", json={"name": f"a {role}", "roles": [role]})
        assert made.status_code == 201, role
        bound = await admin.put(f"/role-bindings/user:{role}", json={"roles": [role]})
        assert bound.status_code == 200, role
