"""What cannot be decrypted hides nothing but itself: lists show the rest, and what should be stopped is stopped."""

from hashlib import sha256

import pytest

from horae.domain.encryption.encrypted_values import parked_of
from horae.domain.errors import KeysUnavailable
from horae.domain.events.intakes import ParkedMessage
from horae.domain.ids import Prefix, public, shard_in
from horae.runtime.randomness import new_id
from horae.security.payload_cipher import encrypt_value
from horae.security.roles import Role
from horae.store.events import parked_messages
from tests.steps import query

SECRET = {"a": "canary-7Qm2"}
SPOILT = "jsonb_set({column}, '{place}', to_jsonb(overlay({column} #>> '{place}' placing 'AAAA' from 9)))"


async def spoil(store, table, column, place, where):
    """Change some characters of a sealed value, as a row does that was restored beside another keyring."""
    change = SPOILT.format(column=column, place=place)
    for cell in store.cells:
        async with cell.tx() as tx:
            await tx.run(f"update {table} set {column} = {change} where {where}")


@pytest.fixture
async def no_keys(doors, monkeypatch):
    """A key engine that does not answer, as this process begins."""

    async def down(*_):
        raise KeysUnavailable("the key engine did not answer")

    def stop():
        doors.cipher._known.clear()
        monkeypatch.setattr(doors.cipher.keks, "_unwrap", down)

    return stop


async def test_a_job_that_cannot_be_read_is_listed_paused_changed_and_removed(store, admin):
    for name in ("bad", "good"):
        made = await admin.post("/jobs", json={"name": name, "cron": "0 0 9 * * ?", "payload": SECRET})
        assert made.status_code == 201
    await spoil(store, "job", "definition", "{sealed,$sealed}", "name = 'bad'")
    await spoil(
        store, "job_version", "definition", "{sealed,$sealed}", "job_id = (select id from job where name = 'bad')"
    )
    page = await admin.get("/jobs")
    assert page.status_code == 200, page.text
    told = {one["name"]: (one["payload"], one["unreadable"]) for one in page.json()["items"]}
    assert told == {"bad": (None, "SCH_409_UNOPENABLE"), "good": (SECRET, None)}
    [version] = (await admin.get("/jobs/bad/versions")).json()["items"]
    assert version["unreadable"] == "SCH_409_UNOPENABLE"
    assert "sealed" not in version["definition"]
    for verb in ("pause", "resume"):
        answer = await admin.post(f"/jobs/bad/{verb}", headers={"Idempotency-Key": verb})
        assert (answer.status_code, answer.json()["unreadable"]) == (200, "SCH_409_UNOPENABLE")
    assert (await admin.patch("/jobs/bad/labels", json={"labels": {"a": "b"}})).status_code == 200
    assert (
        await admin.get("/jobs/bad")
    ).status_code == 409  # alone it is refused: nobody writes it back without its parts
    gone = await admin.delete("/jobs/bad")
    assert (gone.status_code, gone.json()["status"]) == (200, "REMOVED")


async def test_a_letter_that_cannot_be_read_hides_no_other(store, admin, client):
    worker = await client(Role.WORKER)
    await admin.post("/jobs", json={"name": "MAIL", "trigger": {"kind": "keyed"}})
    for key in ("bad", "good"):
        await admin.put(f"/tasks/MAIL/{key}", json={"payload": SECRET})
    claimed = (await worker.post("/workers/poll", json={"queue": "MAIL", "worker_id": "w"})).json()["items"]
    failed = [{name: one[name] for name in ("instance_id", "attempt", "token")} for one in claimed]
    await worker.post("/workers/fail", json={"items": [one | {"message": "no", "retryable": False} for one in failed]})
    await spoil(store, "dead_letter", "payload", "{$sealed}", "business_key = 'bad'")
    page = await admin.get("/dead-letters")
    told = {one["key"]: (one["payload"], one["unreadable"]) for one in page.json()["items"]}
    assert told == {"bad": (None, "SCH_409_UNOPENABLE"), "good": (SECRET, None)}


async def test_without_keys_lists_are_shown_and_an_instance_is_cancelled(admin, no_keys):
    await admin.post("/jobs", json={"name": "MAIL", "trigger": {"kind": "keyed"}, "payload": SECRET})
    instance = (await admin.put("/tasks/MAIL/k", json={"payload": SECRET})).json()["instance_id"]
    no_keys()
    [job] = (await admin.get("/jobs")).json()["items"]
    assert (job["payload"], job["unreadable"]) == (None, "SCH_503_KEYS")
    shown = await admin.get(f"/instances/{instance}")
    assert (shown.status_code, shown.json()["unreadable"]) == (200, "SCH_503_KEYS")
    cancelled = await admin.post(f"/instances/{instance}/cancel")
    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "CANCELLED")


async def test_a_parked_message_that_cannot_be_read_is_listed_and_dropped(store, tenant, admin, doors):
    shard, key = shard_in(tenant.id), await doors.cipher.key(tenant.id)
    ids = []
    async with store.cell(shard).tx() as tx:
        for n in range(2):
            ids.append(new_id(shard, tx.now))
            body = encrypt_value(key, parked_of(ids[n]), f"message {n}")
            one = ParkedMessage(ids[n], tx.now, new_id(shard, tx.now), "in", str(n), "SCH_400", "no", body)
            assert await parked_messages.park(tx, tenant.id, one, sha256(str(n).encode()).digest())
    await spoil(store, "parked", "body", "{$sealed}", f"id = '{ids[0]}'")
    page = await admin.get("/parked")
    assert page.status_code == 200, page.text
    told = {one["place"]: (one["body"], one["unreadable"]) for one in page.json()["items"]}
    assert told == {"0": ("", "SCH_409_UNOPENABLE"), "1": ("message 1", None)}
    name = public(Prefix.PARKED, ids[0])
    assert (await admin.post(f"/parked/{name}/replay")).status_code == 409
    assert (await admin.delete(f"/parked/{name}")).status_code == 200
    assert [row["id"] for row in await query(store, "select id from parked")] == [ids[1]]
