"""The calls that seed 002 writes down, as it writes them, with a credential beside."""

from datetime import timedelta

from tests.api.world import own_shards
from tests.steps import query


async def test_the_calls_of_the_seed_run_as_they_are_written(admin, store):
    await own_shards(store)
    payload = {"name": "coupon_job", "cron": "0 */5 * * * ?"}
    headers = {"Content-Type": "application/json", "Idempotency-Key": "create-coupon_job-1771113600000"}
    created = await admin.post("/jobs", json=payload, headers=headers)
    assert created.status_code == 201
    assert created.json()["trigger"]["expression"] == "0 */5 * * * ?"
    id_ = created.json()["id"]

    runs = [await admin.post(f"/jobs/{id_}/trigger", headers={"Idempotency-Key": "by-hand-1"}) for _ in range(2)]
    assert [run.status_code for run in runs] == [202, 202]
    assert len({run.json()["instance_id"] for run in runs}) == 1
    assert len(await query(store, "select from instance_live")) == 1

    now = store.cells[0].clock.now()
    range_ = {"since": (now - timedelta(hours=1)).isoformat(), "until": now.isoformat()}
    begun = await admin.post(f"/jobs/{id_}/backfill", json=range_, headers={"Idempotency-Key": "backfill-1"})
    assert (begun.status_code, begun.json()["planned"]) == (202, 12)

    history = await admin.get(f"/jobs/{id_}/instances")
    assert [one["id"] for one in history.json()["items"]] == [runs[0].json()["instance_id"]]

    health = await admin.get("/scheduler/health")
    assert health.status_code == 200
    assert isinstance(health.json()["triggerDelayP95Ms"], int)
    assert health.json()["mode"] in {"NORMAL", "DEGRADED"}


async def test_the_codes_of_the_seed_are_told_under_its_names(admin, store):
    await admin.post("/jobs", json={"name": "coupon_job"})
    down = await admin.post("/jobs/coupon_job/trigger", headers={"Idempotency-Key": "k"})
    assert (down.status_code, down.json()["code"]) == (503, "SCH_503_DISPATCHER_DOWN")
    await own_shards(store)
    await admin.post("/jobs/coupon_job/trigger", headers={"Idempotency-Key": "k"})
    other = await admin.post("/jobs/coupon_job/trigger", json={"payload": 1}, headers={"Idempotency-Key": "k"})
    assert (other.status_code, other.json()["code"]) == (409, "SCH_409_DUPLICATE")
