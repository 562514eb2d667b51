"""The pull protocol through the door."""

import asyncio

import pytest

from horae.runtime.telemetry import counts
from horae.security.roles import Role
from horae.service import instances
from tests.steps import query, until


@pytest.fixture
async def worker(client, admin):
    await admin.post("/jobs", json={"name": "pull"})
    return await client(Role.WORKER)


async def polled(worker, **facts):
    return (await worker.post("/workers/poll", json={"queue": "pull", "worker_id": "w", **facts})).json()["items"]


def of(one, **facts):
    return {"instance_id": one["instance_id"], "attempt": one["attempt"], "token": one["token"], **facts}


async def test_claimed_heard_finished_and_failed(worker, ctx, store):
    for n in range(3):
        await instances.trigger(ctx, "pull", str(n), payload={"n": n}, even_if_down=True)
    done, declined, failed = await polled(worker)
    assert {"job", "key", "payload", "fire_time", "idempotency_key", "deadline"} <= set(done)
    heard = await worker.post("/workers/heartbeat", json={"items": [of(done, seconds=60), of(failed)]})
    assert [one["yours"] for one in heard.json()["items"]] == [True, True]
    said = await worker.post("/workers/finish", json={"items": [of(done), of(declined, declined=True)]})
    assert [(one["verdict"], one["status"]) for one in said.json()["items"]] == [("done", 200)] * 2
    said = await worker.post("/workers/fail", json={"items": [of(failed, message="no", retryable=False)]})
    assert said.json()["items"][0]["verdict"] == "done"
    ends = await query(store, "select state, reason from instance_history order by state")
    assert [tuple(row) for row in ends] == [("DEAD", None), ("SKIPPED", "DECLINED"), ("SUCCESS", None)]


async def test_late_forged_and_foreign_tokens_are_refused_and_counted(worker, ctx, store, client, other):
    await instances.trigger(ctx, "pull", "k", even_if_down=True)
    [one] = await polled(worker)
    stranger = await client(Role.WORKER, of=other)
    before = counts["worker.refused"]
    bad = [
        (worker, of(one) | {"token": "x" * 43}),
        (worker, of(one) | {"attempt": 2}),
        (worker, of(one) | {"instance_id": "ins_nonsense"}),
        (stranger, of(one)),
    ]
    for asking, item in bad:
        for path, more in (("finish", {}), ("fail", {"message": "no"})):
            said = (await asking.post(f"/workers/{path}", json={"items": [item | more]})).json()["items"]
            assert [(each["verdict"], each["status"]) for each in said] == [("late", 409)]
        assert (await asking.post("/workers/heartbeat", json={"items": [item]})).json()["items"][0]["yours"] is False
    assert counts["worker.refused"] - before == 12
    assert (await worker.post("/workers/finish", json={"items": [of(one)]})).json()["items"][0]["verdict"] == "done"
    assert (await worker.post("/workers/finish", json={"items": [of(one)]})).json()["items"][0]["verdict"] == "late"


async def test_a_worker_waits_for_what_comes(worker, ctx, app):
    waiting = asyncio.create_task(polled(worker, wait=30))
    await until(lambda: bool(app.state.polls._lines))
    await instances.trigger(ctx, "pull", "k", even_if_down=True)
    assert len(await waiting) == 1


async def test_messages_are_read_strictly(worker):
    for body in (
        {},
        {"queue": "pull"},
        {"queue": "pull", "worker_id": "w", "limit": 0},
        {"queue": "pull", "worker_id": "w", "more": 1},
        {"queue": 1, "worker_id": "w"},
        {"queue": "pull", "worker_id": "w", "wait": 61},
        [],
    ):
        answer = await worker.post("/workers/poll", json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, "SCH_422_INVALID"), body
    assert (await worker.post("/workers/finish", json={"items": []})).status_code == 422
    assert (await worker.post("/workers/poll", content=b'{"a": 1')).status_code in {400, 415}
    twice = b'{"queue": "a", "queue": "b", "worker_id": "w"}'
    headers = {"Content-Type": "application/json"}
    assert (await worker.post("/workers/poll", content=twice, headers=headers)).status_code == 400


async def test_the_document_describes_the_protocol(app, anyone):
    document = (await anyone.get("/openapi.json")).json()
    poll = document["paths"]["/api/v1/workers/poll"]["post"]
    assert poll["x-horae-roles"] == ["worker"]
    name = poll["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    assert set(document["components"]["schemas"][name]["properties"]) == {"queue", "worker_id", "limit", "wait"}
