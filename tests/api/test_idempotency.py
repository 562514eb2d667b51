import asyncio

from tests.steps import query

NEW = {"name": "j", "cron": "* * * * *"}
KEY = {"Idempotency-Key": "k1"}


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
    assert not await query(store, "select from idempotency")
    assert (await admin.post("/jobs", json=NEW, headers=KEY)).status_code == 201


async def test_concurrent_duplicates_have_one_effect_and_one_answer(admin, store):
    answers = await asyncio.gather(*(admin.post("/jobs", json=NEW, headers=KEY) for _ in range(50)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert sum("Idempotency-Replayed" not in answer.headers for answer in answers) == 1
    assert len(await query(store, "select from audit_log where action = 'job.created'")) == 1


async def test_a_key_belongs_to_its_route_and_resource(admin):
    await admin.post("/jobs", json=NEW, headers=KEY)
    assert (await admin.post("/jobs", json=NEW | {"name": "k"}, headers=KEY)).status_code == 201
    assert (await admin.post("/jobs/j/pause", headers=KEY)).json()["status"] == "PAUSED"
    assert (await admin.post("/jobs/j/pause", headers=KEY)).json()["status"] == "PAUSED"
    assert (await admin.post("/jobs", json=NEW | {"name": "l"}, headers={"Idempotency-Key": "x" * 201})).json()[
        "code"
    ] == "SCH_400_IDEMPOTENCY_KEY"
