"""Dead-letter triage through the API: causes, samples by permission, changes to many, paced replays."""

import pytest

from horae.domain.instances.outcomes import ErrorCode, Unrecoverable
from horae.domain.measures.in_force import NO_MEASURES
from horae.security.roles import Role
from horae.service.tasks import tasks
from horae.upkeep.copies import Copier
from horae.upkeep.dead_letter_triage import CauseSorter, PacedReplayer
from tests.keyring import sealed
from tests.steps import a_type, claim_everywhere, move_clock, query, settle

BUSY = Unrecoverable(ErrorCode.HTTP_5XX, "answered 503 after 12 ms")


@pytest.fixture
async def died(ctx, store):
    """Six dead letters of one cause, with encrypted payloads."""
    sealed(store)
    await a_type(ctx, "T")
    await Copier(store).once()
    ids = [(await tasks.schedule(ctx, "T", f"k{n}", payload={"n": n})).instance_id for n in range(6)]
    for ran in await claim_everywhere(store):
        await settle(store, ran, BUSY)
    await CauseSorter(store).once()
    return ids


async def test_causes_come_in_pages_and_samples_have_payloads_for_those_who_may(admin, client, died):
    page = (await admin.get("/failure-causes")).json()
    assert (page["unsorted"], page["is_complete"], page["next"], len(page["items"])) == (0, True, None, 1)
    [one] = page["items"]
    assert (one["job"], one["open"], one["message"], one["trend"]) == ("T", 6, "answered 503 after <n> ms", "rising")
    whole = (await admin.get(f"/failure-causes/{one['cause']}")).json()
    assert {letter["payload"]["n"] for letter in whole["samples"]} <= set(range(6))
    assert {letter["cause"] for letter in whole["samples"]} == {one["cause"]}
    assert (whole["since_death"]["job_version"], whole["since_death"]["changed"]) == (1, False)
    viewer = await client(Role.VIEWER)
    seen = (await viewer.get(f"/failure-causes/{one['cause']}")).json()
    assert {letter["payload"] for letter in seen["samples"]} == {None}
    assert (await viewer.post("/paced-replays", json={"tag": "transient_error"})).status_code == 403
    listed = (await admin.get("/dead-letters", params={"cause": one["cause"]})).json()["items"]
    assert len(listed) == 6
    assert (await admin.get("/failure-causes/cau_01hv3zq5k8e9r7t2m4n6p8s0v1")).status_code == 404


async def test_an_edited_payload_is_stored_encrypted_and_null_is_refused(admin, store, died):
    [letter] = (await admin.get("/dead-letters", params={"limit": 1})).json()["items"]
    path = f"/dead-letters/{letter['instance_id']}/replay"
    assert (await admin.post(path, json={"payload": None})).status_code == 422
    assert (await admin.post(path, json={})).status_code == 422
    made = (await admin.post(path, json={"payload": {"fixed": "secret-word"}})).json()["instance_id"]
    assert (await admin.get(f"/instances/{made}")).json()["payload"] == {"fixed": "secret-word"}
    for table in ("dead_letter", "instance_live", "audit_log", "outbox"):
        rows = await query(store, f"select t::text as text from {table} t")
        assert not any("secret-word" in row["text"] for row in rows), table


async def test_a_paced_replay_is_begun_once_per_key_read_and_stopped(admin, store, died):
    asked = {"tag": "transient_error", "limit": 5000, "pace": 2, "canary": 2}
    first = await admin.post("/paced-replays", json=asked, headers={"Idempotency-Key": "k"})
    again = await admin.post("/paced-replays", json=asked, headers={"Idempotency-Key": "k"})
    assert (first.status_code, again.json()) == (202, first.json())
    await move_clock(store, seconds=2)
    await PacedReplayer(store, lambda _cell: NO_MEASURES).once()
    one = (await admin.get(f"/paced-replays/{first.json()['id']}")).json()
    assert (one["status"], one["sent"], one["outstanding"]) == ("CANARY", 2, 2)
    assert [found["id"] for found in (await admin.get("/paced-replays")).json()["items"]] == [one["id"]]
    stopped = (await admin.post(f"/paced-replays/{one['id']}/stop")).json()
    assert stopped["status"] == "STOPPED"
    assert (await admin.post(f"/paced-replays/{one['id']}/stop")).status_code == 409
    for bad in ({}, {"tag": "x", "pace": 0}, {"tag": "x", "pace": 201}, {"tag": "x", "limit": 1, "canary": 2}):
        assert (await admin.post("/paced-replays", json=bad)).status_code == 422, bad
    assert (await admin.post("/paced-replays", json={"cause": "nonsense"})).status_code == 404


async def test_many_are_tagged_and_discarded_with_a_reason(admin, client, other, died):
    stranger = await client(Role.ADMIN, of=other)
    tag = {"tag": "transient_error", "add": ["later"]}
    assert (await stranger.post("/dead-letters/tag", json=tag)).json() == {"changed": 0, "refused": 0}
    assert (await admin.post("/dead-letters/tag", json=tag)).json() == {"changed": 6, "refused": 0}
    listed = (await admin.get("/dead-letters", params={"tag": "later"})).json()["items"]
    assert [one["tags"] for one in listed] == [["later"]] * 6
    assert (await admin.post("/dead-letters/discard", json={"tag": "later"})).status_code == 422
    discard = {"tag": "later", "reason": "the campaign is over", "limit": 5}
    assert (await stranger.post("/dead-letters/discard", json=discard)).json()["changed"] == 0
    assert (await admin.post("/dead-letters/discard", json=discard)).json() == {"changed": 5, "refused": 0}
    assert (await admin.get("/failure-causes")).json()["items"][0]["open"] == 1
