"""What runs, through the door: trigger, backfill, history, cancel, retry, dead letters."""

import json
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
import pytest

from horae.api.models.instances import InstanceView, instance_fields
from horae.domain.ids import Prefix, compose, public
from horae.domain.instances.outcomes import ErrorCode, Retryable, Success, Unrecoverable
from horae.domain.limits.limits import Limit
from horae.domain.tenants.tenants import Allowance
from horae.runtime.randomness import new_token
from horae.security.roles import Role
from horae.service.context import PlatformContext
from horae.service.instances.searches import InstanceRecord
from horae.service.tenants import tenants
from horae.store.nodes import leases
from horae.upkeep.copies import Copier
from tests.steps import claim_everywhere, query, settle

TTL = timedelta(seconds=60)
NO = Unrecoverable(ErrorCode.HTTP_4XX, "404")
HTTP = {"kind": "http", "url": "https://example.com/hook"}


@pytest.fixture
async def owned(store):
    """A living node holds every shard."""
    who = new_token()
    for cell in store.cells:
        async with cell.tx() as tx:
            await leases.heartbeat(tx, who, "n", TTL)
            await leases.take(tx, who, store.shards_of(cell))


@pytest.fixture
async def job(admin):
    asked = {"name": "coupon_job", "cron": "0 */5 * * * ?", "target": HTTP}
    return (await admin.post("/jobs", json=asked)).json()


def keyed(key):
    return {"headers": {"Idempotency-Key": key}}


async def dead(store, outcome=NO):
    for ran in await claim_everywhere(store):
        await settle(store, ran, outcome)


async def test_seed_002_example_3_the_same_key_triggers_once_and_is_answered_the_same(admin, job, owned, store):
    first = await admin.post(f"/jobs/{job['id']}/trigger", json={"payload": {"n": 1}}, **keyed("k"))
    again = await admin.post(f"/jobs/{job['id']}/trigger", json={"payload": {"n": 1}}, **keyed("k"))
    assert (first.status_code, first.json()) == (202, again.json())
    assert (again.headers.get("Idempotency-Replayed"), "Idempotency-Replayed" in first.headers) == ("true", False)
    other = await admin.post(f"/jobs/{job['id']}/trigger", json={"payload": {"n": 2}}, **keyed("k"))
    assert (other.status_code, other.json()["code"]) == (409, "SCH_409_DUPLICATE")
    assert (other.json()["instance_id"], other.json()["state"]) == (first.json()["instance_id"], "INIT")
    assert (await admin.post("/jobs/coupon_job/trigger")).json()["code"].startswith("SCH_400")
    bare = await admin.post("/jobs/coupon_job/trigger", **keyed("without a body"))
    assert bare.status_code == 202
    assert len(await query(store, "select * from instance_live")) == 2
    assert len(await query(store, "select * from audit_log where action = 'instance.triggered'")) == 2


async def test_without_a_node_nothing_is_triggered(admin, job, store):
    down = await admin.post("/jobs/coupon_job/trigger", **keyed("k"))
    assert (down.status_code, down.json()["code"]) == (503, "SCH_503_DISPATCHER_DOWN")
    assert int(down.headers["Retry-After"]) >= 1
    assert await query(store, "select * from idempotency where key = 'k'") == []


async def test_history_comes_in_pages_over_live_and_ended(admin, job, owned, store):
    ids = [(await admin.post("/jobs/coupon_job/trigger", **keyed(str(n)))).json()["instance_id"] for n in range(7)]
    for ran in (await claim_everywhere(store))[:4]:
        await settle(store, ran, Success())
    for path, order in (("/jobs/coupon_job/instances", {}), ("/instances", {}), ("/instances", {"order": "fire_time"})):
        seen, cursor = [], None
        while True:
            params = {"limit": 3} | order | ({"cursor": cursor} if cursor else {})
            page = (await admin.get(path, params=params)).json()
            seen += [one["id"] for one in page["items"]]
            cursor = page["next"]
            if cursor is None:
                break
        assert sorted(seen) == sorted(ids)
    ended = (await admin.get("/instances", params={"state": "SUCCESS"})).json()["items"]
    assert len(ended) == 4
    counts = (await admin.get("/jobs/coupon_job/counts")).json()
    assert (counts["live"]["RUNNING"], counts["ended"]) == (3, {"SUCCESS": 4})
    one = (await admin.get(f"/instances/{ids[0]}")).json()
    assert (one["job_id"], one["priority"], one["lane"]) == (job["id"], "normal", "first")
    for path in ("/jobs/coupon_job/instances", "/instances"):
        assert {item["job"] for item in (await admin.get(path)).json()["items"]} == {one["job"]} == {"coupon_job"}


async def test_instances_of_all_jobs_are_listed_by_fire_time(admin, store):
    await admin.post("/jobs", json={"name": "T", "trigger": {"kind": "keyed"}, "target": HTTP})
    now = store.cells[0].clock.now()
    for minutes in (2, 3, 1):
        at = (now + timedelta(minutes=minutes)).isoformat()
        assert (await admin.put(f"/tasks/T/{minutes}", json={"at": at})).status_code in {200, 201}
    listed = (await admin.get("/instances", params={"order": "fire_time"})).json()["items"]
    assert [one["key"] for one in listed] == ["3", "2", "1"]
    until = (now + timedelta(minutes=3)).isoformat()
    listed = (await admin.get("/instances", params={"order": "fire_time", "until": until})).json()["items"]
    assert [one["key"] for one in listed] == ["2", "1"]
    assert (await admin.get("/instances", params={"order": "nonsense"})).status_code == 422


async def test_cancel_and_retry_and_what_may_not_be(admin, job, owned, store):
    ids = [(await admin.post("/jobs/coupon_job/trigger", **keyed(str(n)))).json()["instance_id"] for n in range(2)]
    cancelled = await admin.post(f"/instances/{ids[0]}/cancel", **keyed("c"))
    assert cancelled.json()["state"] == "CANCELLED"
    assert (await admin.post(f"/instances/{ids[0]}/cancel", **keyed("c"))).json() == cancelled.json()
    assert (await admin.post(f"/instances/{ids[0]}/cancel")).status_code == 409
    assert (await admin.post(f"/instances/{ids[1]}/retry")).json()["code"] == "SCH_409_CONFLICT"
    await dead(store, Retryable(ErrorCode.HTTP_5XX, "503"))
    assert (await admin.post(f"/instances/{ids[1]}/retry")).json() == {"instance_id": ids[1]}


async def test_dead_letters_are_listed_replayed_and_discarded_within_the_budget(admin, job, owned, store, tenant):
    ids = [(await admin.post("/jobs/coupon_job/trigger", **keyed(str(n)))).json()["instance_id"] for n in range(5)]
    await dead(store)
    found = (await admin.get("/dead-letters", params={"job": job["id"], "limit": 2})).json()
    assert (len(found["items"]), found["items"][0]["replay_status"]) == (2, "NEW")
    rest = (await admin.get("/dead-letters", params={"job": job["id"], "limit": 9, "cursor": found["next"]})).json()
    assert {one["instance_id"] for one in found["items"] + rest["items"]} == set(ids)
    await tenants.allow(PlatformContext(store, "test"), tenant.name, Allowance(retries=Limit(rate=0.01, burst=2)))
    await Copier(store).once()
    assert (await admin.post(f"/dead-letters/{ids[0]}/replay")).status_code == 202
    assert (await admin.post(f"/instances/{ids[1]}/retry")).status_code == 202
    limited = await admin.post(f"/dead-letters/{ids[2]}/replay")
    assert (limited.status_code, limited.json()["code"]) == (429, "SCH_429_RETRY_LIMITED")
    assert int(limited.headers["Retry-After"]) == 100
    many = await admin.post("/dead-letters/replay", json={"error_code": "HTTP_4XX"})
    assert many.status_code == 429
    assert (await admin.post(f"/dead-letters/{ids[3]}/discard")).status_code == 204
    assert (await admin.post("/dead-letters/replay", json={})).status_code == 422


async def test_a_backfill_is_begun_once_per_key_read_and_cancelled(admin, job, store):
    since = (await query(store, "select created_at from job"))[0]["created_at"] - timedelta(hours=1)
    asked = {"since": since.isoformat(), "until": (since + timedelta(days=2)).isoformat()}
    begun = await admin.post("/jobs/coupon_job/backfill", json=asked, **keyed("k"))
    again = await admin.post("/jobs/coupon_job/backfill", json=asked, **keyed("k"))
    assert (begun.status_code, begun.json()) == (202, again.json())
    assert begun.json()["planned"] in {12, 13}
    assert begun.json()["until"] == job["next_fire_at"]
    assert (await admin.post("/jobs/coupon_job/backfill", json=asked)).json()["code"].startswith("SCH_400")
    id_ = begun.json()["id"]
    assert (await admin.get(f"/backfills/{id_}")).json()["status"] == "RUNNING"
    assert (await admin.post(f"/backfills/{id_}/cancel")).json()["status"] == "CANCELLED"
    assert [one["id"] for one in (await admin.get("/jobs/coupon_job/backfills")).json()["items"]] == [id_]
    assert len(await query(store, "select * from audit_log where action like 'backfill.%'")) == 2


async def test_a_backfill_is_planned_paused_resumed_and_shows_how_far_it_is(admin, job, store):
    since = (await query(store, "select created_at from job"))[0]["created_at"] - timedelta(hours=1)
    asked = {"since": since.isoformat(), "until": (since + timedelta(days=2)).isoformat(), "rate": 2}
    plan = (await admin.post("/jobs/coupon_job/backfill/plan", json=asked)).json()
    assert plan["planned"] == plan["needed"] in {12, 13}
    assert {"bound": "RATE", "calls_per_s": 2.0, "name": None} in plan["bounds"]
    how = {"mode": "missing", "newest_first": True}
    begun = (await admin.post("/jobs/coupon_job/backfill", json=asked | how, **keyed("k"))).json()
    assert (begun["mode"], begun["newest_first"], begun["rate"], begun["rerun"]) == ("missing", True, 2.0, False)
    refused = await admin.post("/jobs/coupon_job/backfill", json=asked | how | {"rerun": True}, **keyed("k2"))
    assert (refused.status_code, "mode `all`" in refused.json()["detail"]) == (422, True)
    path = f"/backfills/{begun['id']}"
    paused = await admin.post(f"{path}/pause", **keyed("p"))
    assert paused.json()["status"] == "PAUSED"
    assert (await admin.post(f"{path}/pause", **keyed("p"))).json() == paused.json(), "the same key, the same answer"
    assert (await admin.post(f"{path}/pause")).status_code == 409
    assert (await admin.post(f"{path}/resume")).json()["status"] == "RUNNING"
    progress = (await admin.get(path)).json()["progress"]
    assert (progress["done"], progress["total"], progress["left_s"]) == (0, begun["planned"], None)


async def test_a_backfill_group_is_begun_once_per_key_and_changed_as_a_whole(admin, job, store):
    since = (await query(store, "select created_at from job"))[0]["created_at"] - timedelta(hours=1)
    asked = {"since": since.isoformat(), "until": (since + timedelta(days=2)).isoformat(), "prefix": "coupon"}
    begun = await admin.post("/backfill-groups", json=asked, **keyed("k"))
    assert begun.status_code == 202
    assert (await admin.post("/backfill-groups", json=asked, **keyed("k"))).json() == begun.json()
    other = await admin.post("/backfill-groups", json=asked | {"rate": 1}, **keyed("k"))
    assert other.json()["code"] == "SCH_409_DUPLICATE"
    [item] = begun.json()["items"]
    assert (item["name"], item["backfill"]["group_id"]) == ("coupon_job", begun.json()["id"])
    path = f"/backfill-groups/{begun.json()['id']}"
    for verb, status in (("pause", "PAUSED"), ("resume", "RUNNING"), ("cancel", "CANCELLED")):
        shown = (await admin.post(f"{path}/{verb}")).json()
        assert (shown["status"], [part["status"] for part in shown["parts"]]) == (status, [status])
    assert (await admin.get(path)).json()["status"] == "CANCELLED"


async def test_nothing_of_another_tenant_is_found(admin, job, owned, store, client, other):
    stranger = await client(Role.ADMIN, of=other)
    ins = (await admin.post("/jobs/coupon_job/trigger", **keyed("k"))).json()["instance_id"]
    await dead(store)
    since = (await query(store, "select created_at from job"))[0]["created_at"] - timedelta(hours=1)
    asked = {"since": since.isoformat(), "until": (since + timedelta(days=2)).isoformat()}
    bkf = (await admin.post("/jobs/coupon_job/backfill", json=asked, **keyed("k"))).json()["id"]
    gets = [f"/instances/{ins}", f"/backfills/{bkf}", *(f"/jobs/{job['id']}{tail}" for tail in TAILS)]
    for path in gets:
        assert (await stranger.get(path)).status_code == 404, path
    posts = (f"/instances/{ins}/cancel", f"/instances/{ins}/retry", f"/dead-letters/{ins}/replay")
    for path in (*posts, f"/dead-letters/{ins}/discard", f"/backfills/{bkf}/cancel", f"/jobs/{job['id']}/trigger"):
        assert (await stranger.post(path, **keyed("x"))).status_code == 404, path
    assert (await stranger.get("/instances")).json()["items"] == []
    assert (await stranger.get("/dead-letters")).json()["items"] == []


TAILS = ("", "/instances", "/versions", "/counts", "/backfills", "/preview", "/diff?before=1&after=1")


@pytest.mark.parametrize("ended", [True, False])
def test_a_page_says_of_an_instance_what_the_document_says(ended):
    """Pages are written without the framework, so nothing else would notice a field that the model does not have."""
    at = datetime(2030, 1, 31, 8, 0, 0, 120_000, tzinfo=UTC)
    past = InstanceRecord(
        id=UUID("019a0000-0000-7123-8000-000000000001"),
        job_id=UUID("019a0000-0000-7123-8000-000000000002"),
        business_key="article-7" if ended else None,
        fire_time=at,
        state="SUCCESS" if ended else "INIT",
        reason="MISFIRE" if ended else None,
        attempt=2,
        retry_count=1,
        changed_at=at + timedelta(seconds=1),
        trigger_delay_ms=4 if ended else None,
        duration_ms=12 if ended else None,
        range_to=at if ended else None,
        range_count=3 if ended else None,
        error_code="HTTP_500" if ended else None,
        error_msg="„no“ \x00 \U0001f600" if ended else None,
        idem_key="one",
        due_at=at.replace(microsecond=0),
        priority=1,
        lane=0,
        job_version=7,
        worker_id="w" if ended else None,
        job="nightly",
    )
    assert json.loads(msgspec.json.encode(instance_fields(past))) == json.loads(InstanceView.of(past).model_dump_json())


async def last_page(admin, path, params):
    """The last answer of a list. On a busy machine a search reaches its bounds, and goes on with the next page."""
    answer = await admin.get(path, params=params)
    while answer.status_code == 200 and (cursor := answer.json().get("next")) is not None:
        answer = await admin.get(path, params=params | {"cursor": cursor})
    return answer


async def test_what_was_dropped_is_answered_with_a_code_of_its_own(admin, store):
    then = store.cells[0].clock.now() - timedelta(days=20)
    old = public(Prefix.INSTANCE, compose(7, int(then.timestamp() * 1000), 1))
    await admin.post("/jobs", json={"name": "nightly", "trigger": {"kind": "manual"}, "target": HTTP})
    assert (await admin.get(f"/instances/{old}")).json()["code"] == "SCH_404_NOT_FOUND"
    await query(
        store, "insert into dropped_day values (now(), $1, 'instance_history')", then.date() + timedelta(days=1)
    )
    for path in (f"/instances/{old}", "/instances", "/jobs/nightly/instances"):
        params = {} if old in path else {"until": then.isoformat()}
        answer = await last_page(admin, path, params)
        assert (answer.status_code, answer.json().get("code")) == (410, "SCH_410_GONE"), path
    young = public(Prefix.INSTANCE, compose(7, int(then.timestamp() * 1000) + 3 * 86_400_000, 1))
    assert (await admin.get(f"/instances/{young}")).status_code == 404
    assert (await admin.get("/jobs/nightly/instances")).json()["items"] == []
