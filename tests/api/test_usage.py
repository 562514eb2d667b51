"""How much of its limits a tenant uses: its own figures, and those of all tenants for the platform."""

from datetime import timedelta

from horae.security.roles import Role
from horae.store.limits import quotas
from tests.steps import a_job, query


async def uses_of(client, path="/tenant/usage"):
    """The uses of a tenant by kind, or by the name of the limit."""
    return {one["name"] or one["kind"]: one for one in (await client.get(path)).json()["uses"]}


async def test_what_a_tenant_has_is_counted_in_all_cells_beside_what_it_may_have(admin, platform, tenant, ctx):
    for number in range(3):
        await a_job(ctx, f"job-{number}")
    await admin.put("/secrets/token", json={"value": "s3cret"})
    await admin.put("/calendars/c", json={"first": "2026-01-01", "last": "2026-12-31", "removed": ["2026-10-01"]})
    await admin.put("/silences/s", json={"starts_at": "2035-01-01T00:00:00Z", "ends_at": "2035-01-02T00:00:00Z"})
    await admin.put("/role-bindings/group:ops", json={"roles": ["viewer"]})
    keys = len((await admin.get("/keys")).json()["items"])
    found = await uses_of(admin)
    used = {kind: one["used"] for kind, one in found.items() if one["used"]}
    assert used == {
        "jobs": 3, "secrets": 1, "calendars": 1, "calendar_days": 1, "silences": 1, "bindings": 1, "keys": keys
    }  # fmt: skip
    assert (found["jobs"]["most"], found["jobs"]["near"], found["silences"]["most"]) == (300_000, False, 200)
    answer = await platform.put(f"/tenants/{tenant.name}/allowance", json={"counts": {"jobs": 3, "secrets": 2}})
    assert answer.status_code == 200
    listed = (await platform.get("/tenant-usage")).json()["items"]
    [its] = [one for one in listed if one["name"] == tenant.name]
    assert its["uses"][0] == {"kind": "jobs", "name": None, "used": 3, "most": 3, "near": True}, (
        "the nearest comes first"
    )


async def test_a_stranger_sees_its_own_figures_and_not_those_of_all(admin, client, other, ctx):
    await a_job(ctx, "job")
    stranger = await client(Role.ADMIN, of=other)
    assert (await uses_of(stranger))["jobs"]["used"] == 0
    assert (await stranger.get("/tenant-usage")).status_code == 403
    assert (await (await client(Role.WORKER)).get("/tenant/usage")).status_code == 403


async def test_the_platform_reads_all_tenants_page_by_page(platform, tenant, other):
    names, cursor = [], None
    while True:
        params = {"limit": 1} | ({"cursor": cursor} if cursor else {})
        page = (await platform.get("/tenant-usage", params=params)).json()
        names += [one["name"] for one in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert names == sorted(names)
    assert {tenant.name, other.name} <= set(names)


async def test_spent_retries_logged_bytes_and_permits_are_used(admin, platform, tenant, store, ctx):
    limits = {"retries": {"rate": 0.001, "burst": 10}, "quotas": {"bank": {"concurrency": 4}}}
    await platform.put(f"/tenants/{tenant.name}/allowance", json=limits | {"log_bytes": 1000})
    key = quotas.Key(tenant.id, "retries")
    await store.run(key.shard, lambda tx: quotas.spend(tx, key, 9, quotas.Limit(rate=0.001, burst=10)))
    now = store.cells[0].clock.now()
    for cell in store.cells:
        await query(cell, "insert into log_usage values (300, $1, $2)", now.date(), tenant.id)
    await hold(store, tenant, "quota/bank", 3, now)
    found = await uses_of(admin)
    facts = {name: (one["used"], one["most"], one["near"]) for name, one in found.items()}
    assert facts["retries"] == (9, 10, True)
    assert facts["log_bytes"] == (600, 1000, False), "both cells together"
    assert facts["quota/bank"] == (3, 4, False)
    assert found["quota/bank"]["kind"] == "permits"


async def hold(store, tenant, name, permits, now):
    """Let a node hold permits of a limit."""
    key = quotas.Key(tenant.id, name)
    insert = """insert into quota_hold (shard_id, tenant_id, key, incarnation, held, wanted, asked, seen_at, expires_at)
                values ($1, $2, $3, gen_random_uuid(), $4, $4, 0, $5, $6)"""
    await query(store.cell(key.shard), insert, key.shard, tenant.id, name, permits, now, now + timedelta(minutes=1))
