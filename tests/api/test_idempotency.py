import asyncio
import time

import pytest

from horae.security.roles import Role
from horae.store import idempotency
from horae.store.idempotency import KeyScope
from horae.store.jobs import jobs
from tests.steps import query

NEW = {"name": "j", "cron": "* * * * *"}
KEY = {"Idempotency-Key": "k1"}
STATEMENT_TIMEOUT = 5


async def test_the_same_key_and_body_is_done_once_and_answered_the_same(admin, store):
    first = await admin.post("/jobs", json=NEW, headers=KEY)
    again = await admin.post("/jobs", json=NEW, headers=KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers
    assert len(await query(store, "select from job")) == 1


async def test_the_same_key_with_another_body_is_a_duplicate(admin):
    await admin.post("/jobs", json=NEW, headers=KEY)
    other = await admin.post("/jobs", json=NEW | {"cron": "0 * * * *"}, headers=KEY)
    assert (other.status_code, other.json()["code"]) == (409, "SCH_409_DUPLICATE")


async def test_a_refused_request_leaves_its_key_free(admin, store):
    assert (await admin.post("/jobs", json=NEW | {"cron": "0 0 31 2 *"}, headers=KEY)).status_code == 422
    assert not await query(store, "select from idempotency where expires_at > $1", store.cells[0].clock.now())
    assert (await admin.post("/jobs", json=NEW, headers=KEY)).status_code == 201


async def test_concurrent_duplicates_have_one_effect_and_one_answer(admin, store, monkeypatch):
    monkeypatch.setattr(idempotency, "FIRST_REQUEST_TIMEOUT", "4s")  # however slow the first one is here

    async def ask():
        """As a client does: a cell that does not answer in time on a busy machine is asked again."""
        while (answer := await admin.post("/jobs", json=NEW, headers=KEY)).status_code == 503:
            await asyncio.sleep(0.05)
        return answer

    answers = await asyncio.gather(*(ask() for _ in range(50)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert sum("Idempotency-Replayed" not in answer.headers for answer in answers) == 1
    assert len(await query(store, "select from audit_log where action = 'job.created'")) == 1


async def test_one_key_makes_one_job_whatever_name_the_body_says(admin, store):
    """TRIAL 4.1: eight bodies with eight names under one key made eight jobs."""
    answers = [await admin.post("/jobs", json=NEW | {"name": f"idem-{n}"}, headers=KEY) for n in range(8)]
    assert [answer.status_code for answer in answers] == [201] + [409] * 7
    assert {answer.json().get("code") for answer in answers[1:]} == {"SCH_409_DUPLICATE"}
    assert len(await query(store, "select from job")) == 1


async def test_eight_names_at_once_under_one_key_make_one_job(admin, store, monkeypatch):
    monkeypatch.setattr(idempotency, "FIRST_REQUEST_TIMEOUT", "4s")
    calls = (admin.post("/jobs", json=NEW | {"name": f"idem-{n}"}, headers=KEY) for n in range(8))
    answers = await asyncio.gather(*calls)
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7
    assert len(await query(store, "select from job")) == 1


async def test_a_key_of_many_jobs_stands_for_one_choice_of_them_over_all_its_pages(admin):
    for name in ("a1", "a2", "b1"):
        await admin.post("/jobs", json=NEW | {"name": name})
    asked = {"verb": "pause", "prefix": "a", "limit": 1}
    assert (await admin.post("/bulk/jobs", json=asked, headers=KEY)).json()["next"] == "a1"
    assert (await admin.post("/bulk/jobs", json=asked | {"after": "a1"}, headers=KEY)).is_success
    other = await admin.post("/bulk/jobs", json=asked | {"prefix": "b"}, headers=KEY)
    assert (other.status_code, other.json().get("code")) == (409, "SCH_409_DUPLICATE")
    assert (await admin.get("/jobs/b1")).json()["status"] == "ACTIVE"


async def test_an_update_under_a_key_that_loses_a_race_is_done_at_the_next_try(admin, monkeypatch):
    """At b2a65e3 it was answered 500: the update that found another version had no answer to keep."""
    await admin.post("/jobs", json=NEW)
    revise, lost = jobs.revise, []

    async def lose_once(tx, job, definition, actor):
        if not lost:
            lost.append(job.version)
            return None
        return await revise(tx, job, definition, actor)

    monkeypatch.setattr(jobs, "revise", lose_once)
    changed = {"cron": "0 * * * *", "version": 1}
    first = await admin.put("/jobs/j", json=changed, headers=KEY)
    assert (lost, first.status_code, first.json().get("version")) == ([1], 200, 2)
    assert (await admin.put("/jobs/j", json=changed, headers=KEY)).json() == first.json()


async def test_a_key_belongs_to_its_method_and_path(admin):
    await admin.post("/jobs", json=NEW, headers=KEY)
    assert (await admin.post("/jobs/j/pause", headers=KEY)).json()["status"] == "PAUSED"
    assert (await admin.post("/jobs/j/pause", headers=KEY)).json()["status"] == "PAUSED"
    assert (await admin.post("/jobs", json=NEW | {"name": "l"}, headers={"Idempotency-Key": "x" * 201})).json()[
        "code"
    ] == "SCH_400_IDEMPOTENCY_KEY"


@pytest.mark.parametrize(("route", "path"), [("jobs.trigger", "/jobs/j/trigger"), ("jobs.pause", "/jobs/j/pause")])
async def test_while_the_first_request_is_in_flight_its_duplicate_is_refused_soon(admin, store, tenant, route, path):
    await admin.post("/jobs", json=NEW)
    shard = tenant.shard("j")
    async with store.tx(shard) as tx:
        await idempotency.reserve(tx, KeyScope(shard, tenant.id, route, "j", "k1", b""), None, None)
        began = time.monotonic()
        second = await admin.post(path, headers=KEY)
        assert time.monotonic() - began < STATEMENT_TIMEOUT
    assert (second.status_code, second.json()["code"]) == (409, "SCH_409_DUPLICATE")
    assert "in flight" in second.json()["detail"]


async def test_only_the_key_is_waited_for_so_shortly(store, tenant):
    shard = tenant.shard("j")
    async with store.tx(shard) as tx:
        assert await idempotency.reserve(tx, KeyScope(shard, tenant.id, "jobs.pause", "j", "k1", b""), None, None)
        assert await tx.value("select current_setting('lock_timeout')") == "0"


async def test_the_same_key_of_another_tenant_is_another_key(admin, client, other, store):
    """S-02, S-14: neither the answer nor the refusal of one tenant's key reaches another tenant."""
    theirs = await client(Role.ADMIN, of=other)
    mine = await admin.post("/jobs", json=NEW, headers=KEY)
    same = await theirs.post("/jobs", json=NEW, headers=KEY)
    assert (mine.status_code, same.status_code) == (201, 201)
    assert same.json()["id"] != mine.json()["id"]
    assert "Idempotency-Replayed" not in same.headers
    paused = [await one.post("/jobs/j/pause", headers=KEY) for one in (admin, theirs)]
    assert [answer.json()["id"] for answer in paused] == [mine.json()["id"], same.json()["id"]]
    assert len(await query(store, "select from job")) == 2
