"""Payloads are opened when they are sent: without a key they wait uncounted, tampered with they are dead at once."""

from datetime import timedelta

import pytest

from horae.domain.ids import shard_in
from horae.domain.schedules.triggers import ManualTrigger
from horae.domain.targets.auth import BearerAuth
from horae.domain.targets.targets import HttpTarget
from horae.repositories.envelopes import Envelopes
from horae.repositories.secret_book import SecretBook
from horae.security import keyrings
from horae.security.keks import Keks
from horae.security.keyrings import Keyring
from horae.service.encryption import secrets
from horae.service.instances import instances, searches
from horae.service.tasks import tasks
from horae.upkeep.copies import Copier
from tests.nodes import node_in
from tests.receiver import receiving
from tests.steps import a_job, a_type, move_clock, query

TTL = timedelta(seconds=8)


@pytest.fixture
def receiver():
    with receiving() as receiver:
        yield receiver


async def drained(store) -> int:
    """A node of its own, which remembers nothing, does what is due."""
    book = SecretBook(store)
    node = node_in(store, "n", TTL, secrets=book)
    try:
        return await node.drain()
    finally:
        await node.leave()


@pytest.fixture
def lost(store, tmp_path):
    """Keys that open nothing of what was sealed."""
    keyrings.create(tmp_path / "lost.json", "lost")
    return Envelopes(store, Keks([Keyring(tmp_path / "lost.json")]))


async def test_without_its_key_an_attempt_waits_uncounted_and_goes_when_the_key_is_there(ctx, store, receiver, lost):
    await a_job(ctx, "run", ManualTrigger(), target=HttpTarget(f"{receiver.url}/run", headers={"X-A": "b"}))
    await a_type(ctx, target=HttpTarget(f"{receiver.url}/publish"))
    await a_type(ctx, "PLAIN", target=HttpTarget(f"{receiver.url}/plain"))
    await Copier(store).once()
    await instances.trigger(ctx, "run", "k", even_if_down=True)
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42", payload={"n": 1})
    await tasks.schedule(ctx, "PLAIN", "42")
    right, store.cipher = store.cipher, lost
    await drained(store)
    assert [call["job"] for call in receiver.calls] == ["PLAIN"]
    waiting = await query(store, "select state, retry_count, error_msg from instance_live")
    assert [(row["state"], row["retry_count"]) for row in waiting] == [("INIT", 0)] * 2
    store.cipher = right
    await move_clock(store, seconds=10)
    await drained(store)
    assert sorted(call["job"] for call in receiver.calls) == ["ARTICLE_PUBLISH", "PLAIN", "run"]
    assert [call["payload"] for call in receiver.calls if call["job"] == "ARTICLE_PUBLISH"] == [{"n": 1}]
    assert "b" in {head.get("x-a") for head in receiver.headers}


async def test_a_payload_that_was_moved_to_another_row_is_dead_and_never_sent(ctx, store, receiver):
    await a_type(ctx, target=HttpTarget(f"{receiver.url}/publish"))
    await Copier(store).once()
    for key in ("a", "b"):
        await tasks.schedule(ctx, "ARTICLE_PUBLISH", key, payload={"secret": key})
    rows = await query(store, "select id, payload from instance_live")
    for row, other in (rows, rows[::-1]):
        for cell in store.cells:
            async with cell.tx() as tx:
                await tx.run("update instance_live set payload = $2 where id = $1", row["id"], other["payload"])
    await drained(store)
    assert receiver.calls == []
    dead = await query(store, "select error_code, error_msg from dead_letter")
    assert [row["error_code"] for row in dead] == ["SEALED"] * 2


async def test_answers_are_sealed_where_the_call_said_something_that_is_not_for_all(ctx, store, receiver):
    await secrets.put(ctx, "token", "s3cret")
    auth = BearerAuth("token")
    await a_job(ctx, "auth", ManualTrigger(), target=HttpTarget(f"{receiver.url}/auth", auth=auth))
    await a_job(ctx, "body", ManualTrigger(), target=HttpTarget(f"{receiver.url}/body", body={"a": "{{job}}"}))
    await a_job(ctx, "plain", ManualTrigger(), target=HttpTarget(f"{receiver.url}/plain"))
    await Copier(store).once()
    ids = {
        name: (await instances.trigger(ctx, name, "k", even_if_down=True)).instance_id
        for name in ("auth", "body", "plain")
    }
    await drained(store)
    assert "Bearer s3cret" in {head.get("authorization") for head in receiver.headers}
    kept = {row["id"]: row["attempts"][0]["answer"] for row in await query(store, "select * from instance_history")}
    assert {name: kept[id_] == "effect" for name, id_ in ids.items()} == {"auth": False, "body": False, "plain": True}
    for id_ in ids.values():
        assert (await searches.find(ctx, id_)).attempts[0]["answer"] == "effect"


async def test_a_secret_that_cannot_be_opened_now_is_not_a_missing_one(ctx, store, receiver, lost):
    await secrets.put(ctx, "token", "s3cret")
    await a_type(ctx, target=HttpTarget(f"{receiver.url}/auth", auth=BearerAuth("token")))
    await Copier(store).once()
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42")
    right, store.cipher = store.cipher, lost
    await drained(store)
    assert [row["state"] for row in await query(store, "select state from instance_live")] == ["INIT"]
    store.cipher = right
    await move_clock(store, seconds=10)
    await drained(store)
    assert [head["authorization"] for head in receiver.headers] == ["Bearer s3cret"]


async def test_a_secret_whose_copies_are_still_on_their_way_is_used_far_from_home(ctx, store, tenant, receiver):
    await secrets.put(ctx, "token", "s3cret")
    target = HttpTarget(f"{receiver.url}/auth", auth=BearerAuth("token"))
    jobs = [await a_job(ctx, f"run{n}", ManualTrigger(), target=target) for n in range(12)]
    home = store.cell(shard_in(tenant.id))
    away = [job.name for job in jobs if store.cell(job.shard) is not home]
    assert away
    for name in away:
        await instances.trigger(ctx, name, "k", even_if_down=True)
    await drained(store)
    assert sorted(call["job"] for call in receiver.calls) == sorted(away)
    assert {head["authorization"] for head in receiver.headers} == {"Bearer s3cret"}
