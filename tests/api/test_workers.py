"""The pull protocol through the door."""

import asyncio

import pytest

from horae.domain.health.signals import AttemptResult
from horae.runtime.telemetry import counts
from horae.security.roles import Role
from horae.service.instances import instances
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


async def test_of_plain_successes_each_is_answered_in_its_place(worker, ctx, store, doors):
    for n in range(4):
        await instances.trigger(ctx, "pull", str(n), payload={"n": n}, even_if_down=True)
    one, two, three, four = await polled(worker)
    items = [of(one), of(two), of(one), of(three) | {"instance_id": "ins_nonsense"}, of(four) | {"attempt": 7}]
    said = (await worker.post("/workers/finish", json={"items": items})).json()["items"]
    assert [each["verdict"] for each in said] == ["done", "done", "late", "late", "late"]
    assert [each["instance_id"] for each in said] == [each["instance_id"] for each in items]
    ends = await query(store, "select state, payload is not null, worker_id, attempts is null from instance_history")
    assert [tuple(row) for row in ends] == [("SUCCESS", True, "w", True)] * 2
    counted = [row[AttemptResult.SUCCESS] for cell in doors.cells for row in cell.signal_counts.take(100).values()]
    assert sum(counted) == 2


async def test_what_another_process_handed_out_is_finished_as_well(worker, ctx, store, app):
    await instances.trigger(ctx, "pull", "k", even_if_down=True)
    [one] = await polled(worker)
    app.state.gate.callers.memory.handed._kept.clear()  # as if it had never been handed out here
    said = (await worker.post("/workers/finish", json={"items": [of(one)]})).json()["items"]
    assert [each["verdict"] for each in said] == ["done"]
    assert [row["state"] for row in await query(store, "select state from instance_history")] == ["SUCCESS"]


async def test_the_one_fire_of_a_delay_job_completes_it(worker, admin, ctx, store):
    made = {"name": "late", "trigger": {"kind": "delay", "seconds": 0}, "target": {"kind": "queue", "name": "pull"}}
    assert (await admin.post("/jobs", json=made)).status_code == 201
    [one] = await polled(worker)
    said = (await worker.post("/workers/finish", json={"items": [of(one)]})).json()["items"]
    assert [each["verdict"] for each in said] == ["done"]
    assert (await admin.get("/jobs/late")).json()["status"] == "COMPLETED"


async def test_a_worker_waits_for_what_comes(worker, ctx, app):
    waiting = asyncio.create_task(polled(worker, wait=30))
    await until(lambda: bool(app.state.polls.watches))
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
    one = b'{"instance_id": "ins_a", "attempt": 1, "token": "t"%s}'
    twice = b'{"items": [%s]}' % (one % b', "attempt": 1')
    assert (await worker.post("/workers/finish", content=twice, headers=headers)).status_code == 400
    for more, status in ((b', "more": 1', 422), (b', "declined": 1', 422), (b"", 409)):
        body = b'{"items": [%s]}' % (one % more)
        [item] = (await worker.post("/workers/finish", content=body, headers=headers)).json()["items"]
        assert item["status"] == status, body


async def test_the_document_describes_the_protocol(app, anyone):
    document = (await anyone.get("/openapi.json")).json()
    poll = document["paths"]["/api/v1/workers/poll"]["post"]
    assert poll["x-horae-roles"] == ["worker"]
    name = poll["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    assert set(document["components"]["schemas"][name]["properties"]) == {"queue", "worker_id", "limit", "wait"}
