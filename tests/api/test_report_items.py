"""Every item of a worker's report is judged by itself: an invalid one is refused alone."""

import pytest

from horae.security.roles import Role
from horae.service.instances import instances
from tests.steps import query

BAD_ITEMS = [
    {"compensations": [{"type": "REFUND", "key": "k" * 201}]},
    {"compensations": [{"type": "REFUND", "key": "k\n"}]},
    {"compensations": [{"type": "REFUND", "key": "k", "payload": "x" * 70_000}]},
    {"compensations": [{"type": "REFUND", "key": str(n)} for n in range(21)]},
    {"declined": 1},
    {"unknown": 1},
]


@pytest.fixture
async def worker(client, admin):
    await admin.post("/jobs", json={"name": "pull"})
    return await client(Role.WORKER)


@pytest.fixture
async def claimed(worker, ctx):
    for n in range(3):
        await instances.trigger(ctx, "pull", str(n), even_if_down=True)
    works = (await worker.post("/workers/poll", json={"queue": "pull", "worker_id": "w"})).json()["items"]
    return [{field: work[field] for field in ("instance_id", "attempt", "token")} for work in works]


@pytest.mark.parametrize("bad", BAD_ITEMS)
async def test_an_invalid_finish_leaves_the_others_done(worker, claimed, store, bad):
    first, second, third = claimed
    answer = await worker.post("/workers/finish", json={"items": [first, second | bad, third]})
    assert answer.status_code == 200, answer.text
    items = answer.json()["items"]
    assert [(one["verdict"], one["status"]) for one in items] == [("done", 200), ("invalid", 422), ("done", 200)]
    assert [one["instance_id"] for one in items] == [one["instance_id"] for one in claimed]
    assert ["message" in one for one in items] == [False, True, False]
    assert [row["state"] for row in await query(store, "select state from instance_history")] == ["SUCCESS"] * 2
    again = await worker.post("/workers/finish", json={"items": [second]})
    assert again.json()["items"][0]["verdict"] == "done"  # an invalid report ended nothing


@pytest.mark.parametrize(
    "bad", [{"retry_after": -0.1}, {"retry_after": 1e9}, {"message": None}, {"message": "x", "y": 1}]
)
async def test_an_invalid_failure_leaves_the_others_done(worker, claimed, bad):
    first, second, third = claimed
    said = [first | {"message": "no"}, second | {"message": "no"} | bad, third | {"message": "no"}]
    items = (await worker.post("/workers/fail", json={"items": said})).json()["items"]
    assert [one["verdict"] for one in items] == ["done", "invalid", "done"]


@pytest.mark.parametrize("seconds", [0, -1, 3601, "60"])
async def test_an_invalid_heartbeat_leaves_the_others_heard(worker, claimed, seconds):
    first, second, third = claimed
    answer = await worker.post("/workers/heartbeat", json={"items": [first, second | {"seconds": seconds}, third]})
    items = answer.json()["items"]
    assert [one["yours"] for one in items] == [True, True, True]
    assert [one["deadline"] is None for one in items] == [False, True, False]
    assert ["message" in one for one in items] == [False, True, False]


@pytest.mark.parametrize("item", [None, 7, [], {}, {"instance_id": 5, "attempt": "x"}, {"instance_id": "i" * 100_000}])
async def test_what_names_no_attempt_is_answered_in_its_place(worker, claimed, item):
    items = (await worker.post("/workers/finish", json={"items": [item, claimed[0]]})).json()["items"]
    assert [one["verdict"] for one in items] == ["invalid", "done"]
    assert len(items[0]["instance_id"]) <= 60
