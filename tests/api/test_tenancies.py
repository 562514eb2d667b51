from horae.upkeep.copies import Copier
from tests.steps import query, until


async def test_a_tenants_own_people_pause_and_resume_it(admin, store):
    assert (await admin.post("/tenant/pause")).json() == {"name": "acme", "status": "PAUSED"}
    assert (await admin.get("/tenant/status")).json()["status"] == "PAUSED"
    assert (await admin.post("/tenant/pause")).status_code == 409
    await Copier(store).once()
    await admin.post("/jobs", json={"name": "j"})
    held = await admin.post("/jobs/j/trigger", headers={"Idempotency-Key": "k"})
    assert held.json()["code"] == "SCH_409_CONFLICT"
    assert (await admin.post("/tenant/resume")).json()["status"] == "ACTIVE"
    assert (await admin.delete("/tenants/acme", params={"confirm": "acme"})).status_code == 403


async def test_a_removed_tenants_keys_open_nothing_within_five_seconds(admin, platform, store):
    assert (await admin.get("/jobs")).status_code == 200
    assert (await platform.post("/tenants/acme/pause")).json()["status"] == "PAUSED"
    assert (await platform.delete("/tenants/acme", params={"confirm": "acne"})).status_code == 422
    assert (await platform.delete("/tenants/acme", params={"confirm": "acme"})).status_code == 202
    assert (await platform.get("/tenants/acme/status")).status_code == 404
    await Copier(store).once()

    async def refused():
        return (await admin.get("/jobs")).status_code == 401

    assert await until(refused) < 5
    assert (await platform.delete("/tenants/system", params={"confirm": "system"})).status_code == 409
    assert len(await query(store, "select 1 from audit_log where action = 'tenant.removed'")) == 1


async def test_audit_rows_are_found_by_who_what_and_about_what(admin):
    made = (await admin.post("/jobs", json={"name": "j"})).json()
    await admin.post("/jobs/j/pause")
    entries = (await admin.get("/audit", params={"resource": made["id"]})).json()["items"]
    assert [one["action"] for one in entries] == ["job.paused", "job.created"]
    found = (await admin.get("/audit", params={"action": "job.paused", "actor": entries[0]["actor"]})).json()["items"]
    assert len(found) == 1
    assert (await admin.get("/audit", params={"actor": "nobody"})).json()["items"] == []
