"""What people give us is sealed in every row, and shown again to whoever may read it."""

import json

import pytest

from horae.domain.errors import KeysUnavailable
from horae.security.roles import Role
from horae.service.context import Context
from horae.service.encryption.data_keys import rotate
from tests.steps import query

CANARY = "canary-7Qm2"
JOB = {
    "name": "call",
    "payload": {"a": CANARY},
    "target": {
        "kind": "http",
        "url": "http://127.0.0.1:9/",
        "headers": {"X-Api-Key": CANARY},
        "query": {"q": CANARY},
        "body": {"b": CANARY},
    },
}
TABLES = ("job", "job_version", "reference", "instance_live", "instance_history", "dead_letter", "idempotency")
TABLES += ("outbox", "audit_log", "task_key", "secret", "data_key")


async def dump(store):
    """Every row of every table that could hold something of a tenant's."""
    return "\n".join([str([tuple(row) for row in await query(store, f"select * from {table}")]) for table in TABLES])


async def test_a_definition_is_sealed_in_every_row_and_shown_to_readers(store, admin):
    made = await admin.post("/jobs", json=JOB, headers={"Idempotency-Key": "k"})
    assert made.status_code == 201, made.text
    again = await admin.post("/jobs", json=JOB, headers={"Idempotency-Key": "k"})
    assert (again.headers["Idempotency-Replayed"], again.json()) == ("true", made.json())
    labelled = await admin.patch("/jobs/call/labels", json={"labels": {"team": "x"}}, headers={"Idempotency-Key": "l"})
    assert (labelled.status_code, labelled.json()["payload"]) == (200, {"a": CANARY})
    changed = await admin.put("/jobs/call", json={"version": 2, **{k: v for k, v in JOB.items() if k != "name"}})
    assert changed.status_code == 200, changed.text
    for shown in (made, await admin.get("/jobs/call"), changed):
        assert shown.json()["payload"] == {"a": CANARY}
        assert shown.json()["target"]["headers"] == {"X-Api-Key": CANARY}
    [listed] = (await admin.get("/jobs")).json()["items"]
    assert listed["target"]["body"] == {"b": CANARY}
    versions = (await admin.get("/jobs/call/versions")).json()["items"]
    assert [one["definition"]["target"]["query"] for one in versions] == [{"q": CANARY}] * 3
    assert (await admin.get("/jobs/call/diff?before=1&after=3")).json() == []
    for verb in ("pause", "resume"):
        assert (await admin.post(f"/jobs/call/{verb}")).json()["payload"] == {"a": CANARY}
    assert CANARY not in await dump(store)


async def test_a_task_a_run_and_a_dead_letter_keep_their_payload_sealed_from_birth_to_replay(store, admin, client):
    worker = await client(Role.WORKER)
    await admin.post("/jobs", json={"name": "MAIL", "trigger": {"kind": "keyed"}})
    at = "2035-01-01T08:00:00Z"
    for path, body in (
        ("/tasks/MAIL/42", {"at": at, "payload": {"n": CANARY + "1"}}),
        ("/tasks/MAIL/42", {"at": at}),  # keeps it
        ("/tasks/MAIL/42", {"payload": {"n": CANARY + "2"}}),
    ):
        assert (await admin.put(path, json=body)).status_code in {200, 201}
    assert (await admin.get("/tasks/MAIL/42")).json()["live"]["payload"] == {"n": CANARY + "2"}
    [held] = (await worker.post("/workers/poll", json={"queue": "MAIL", "worker_id": "w"})).json()["items"]
    assert held["payload"] == {"n": CANARY + "2"}
    await admin.put("/tasks/MAIL/42", json={})  # replaced while it runs: the payload goes on
    [held] = (await worker.post("/workers/poll", json={"queue": "MAIL", "worker_id": "w"})).json()["items"]
    assert held["payload"] == {"n": CANARY + "2"}
    failed = {name: held[name] for name in ("instance_id", "attempt", "token")} | {"message": "no", "retryable": False}
    await worker.post("/workers/fail", json={"items": [failed]})
    [letter] = (await admin.get("/dead-letters")).json()["items"]
    assert letter["payload"] == {"n": CANARY + "2"}
    assert (await admin.get(f"/instances/{held['instance_id']}")).json()["payload"] == {"n": CANARY + "2"}
    await admin.post(f"/dead-letters/{held['instance_id']}/replay")
    [replayed] = (await worker.post("/workers/poll", json={"queue": "MAIL", "worker_id": "w"})).json()["items"]
    assert replayed["payload"] == {"n": CANARY + "2"}
    assert CANARY not in await dump(store)


async def test_a_batch_of_tasks_is_sealed_item_by_item(store, admin):
    await admin.post("/jobs", json={"name": "MAIL", "trigger": {"kind": "keyed"}})
    tasks = [{"key": str(n), "at": "2035-01-01T08:00:00Z", "payload": {"n": f"{CANARY}{n}"}} for n in range(50)]
    for _ in range(2):  # created, then moved
        assert (await admin.put("/tasks/MAIL", json={"tasks": tasks})).status_code == 200
    for n in (0, 49):
        assert (await admin.get(f"/tasks/MAIL/{n}")).json()["live"]["payload"] == {"n": f"{CANARY}{n}"}
    assert CANARY not in await dump(store)


async def test_what_old_keys_sealed_is_read_after_a_rotation(store, tenant, admin, doors):
    await admin.post("/jobs", json=JOB)
    ctx = Context.of(store, tenant, "test")
    for version in (2, 3):
        assert await rotate(ctx) == version
        doors.cipher.forget(tenant.id)
        assert (await admin.get("/jobs/call")).json()["payload"] == {"a": CANARY}
        await admin.post("/jobs", json=JOB | {"name": f"call{version}"})
    rows = await query(store, "select definition from job order by name")
    assert sorted(row["definition"]["sealed"]["$sealed"][:4] for row in rows) == ["1.1.", "1.2.", "1.3."]


async def test_a_row_that_was_tampered_with_is_never_shown_and_the_others_are(store, admin):
    await admin.post("/jobs", json=JOB)
    await admin.post("/jobs", json=JOB | {"name": "other"})
    [one, other] = await query(store, "select id, definition from job order by name")
    for row, to in ((one, other), (other, one)):
        for cell in store.cells:
            async with cell.tx() as tx:
                await tx.run("update job set definition = $2 where id = $1", row["id"], to["definition"])
    for name in ("call", "other"):
        answer = await admin.get(f"/jobs/{name}")
        assert (answer.status_code, answer.json()["code"]) == (409, "SCH_409_UNOPENABLE")
        assert (await admin.post(f"/jobs/{name}/pause")).json()["payload"] is None
    assert (await admin.get("/calendars")).status_code == 200


async def test_without_keys_nothing_is_stored_in_clear_and_what_needs_none_goes_on(store, doors, admin, monkeypatch):
    await admin.post("/jobs", json=JOB)

    async def down(*_):
        raise KeysUnavailable("the key engine did not answer")

    doors.cipher._known.clear()
    monkeypatch.setattr(doors.cipher.keks, "_unwrap", down)
    for answer in (
        await admin.get("/jobs/call"),
        await admin.post("/jobs", json=JOB | {"name": "second"}),
        await admin.put("/secrets/a", json={"value": "x"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (503, "SCH_503_KEYS")
        assert "Retry-After" in answer.headers
    paused = await admin.post("/jobs/call/pause")
    assert (paused.status_code, paused.json()["payload"]) == (200, None)
    assert (await admin.post("/jobs", json={"name": "plain", "cron": "0 0 9 * * ?"})).status_code == 201


async def test_secrets_are_put_listed_and_removed_and_never_shown(store, admin, client):
    first = await admin.put("/secrets/crm-token", json={"value": CANARY})
    assert (first.status_code, first.json()["version"]) == (200, 1)
    again = await admin.put("/secrets/crm-token", json={"value": CANARY + "2"})
    assert again.json()["version"] == 2
    [listed] = (await admin.get("/secrets")).json()["items"]
    assert listed == again.json()
    assert (await (await client(Role.EDITOR)).put("/secrets/x", json={"value": "y"})).status_code == 403
    gone = await admin.delete("/secrets/crm-token")
    assert (gone.status_code, (await admin.get("/secrets")).json()["items"]) == (200, [])
    assert (await admin.delete("/secrets/crm-token")).status_code == 404
    entries = (await admin.get("/audit", params={"resource": "secret/crm-token"})).json()["items"]
    assert [entry["action"] for entry in entries] == ["secret.removed", "secret.put", "secret.put"]
    said = [first, again, gone, await admin.get("/audit"), await admin.get("/secrets")]
    assert CANARY not in "".join(answer.text for answer in said) + await dump(store)


@pytest.mark.parametrize(
    "body", [{"value": 5 * [CANARY]}, {"value": CANARY * 5000}, {"value": ""}, {"other": CANARY}, [CANARY]]
)
async def test_a_refused_secret_is_not_repeated(admin, body):
    answer = await admin.put("/secrets/a", json=body)
    assert answer.status_code == 422
    assert CANARY not in answer.text
    answer = await admin.put("/secrets/a", content=json.dumps(body)[:-1], headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert CANARY not in answer.text
