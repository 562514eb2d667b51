from datetime import datetime, timedelta

import pytest

from horae.domain.errors import Invalid, NotFound
from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import ErrorCode, Retryable, Success
from horae.domain.tasks.tasks import Intent, MoveDecision, Replace, decide
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.service.tasks.new_instances import new_task_row
from horae.store.tasks import tasks as rows
from tests.keyring import clear
from tests.steps import a_job, a_type, claim_everywhere, move_clock, query, settle

FAILED = Retryable(ErrorCode.HTTP_5XX, "answered 503")
TYPE = "ARTICLE_PUBLISH"


async def live(store):
    [row] = await query(store, "select * from instance_live")
    return await clear(store, row)


async def test_a_move_keeps_id_failures_error_and_payload(ctx, store):
    await a_type(ctx)
    created = await tasks.schedule(ctx, TYPE, "42", payload={"title": "x"})
    [ran] = await claim_everywhere(store)
    await settle(store, ran, FAILED)
    at = store.cells[0].clock.now() + timedelta(hours=1)
    moved = await tasks.schedule(ctx, TYPE, "42", at=at)
    assert (moved.decision, moved.instance_id) == ("moved", created.instance_id)
    row = await live(store)
    assert (row["id"], row["state"], row["retry_count"], row["error_msg"]) == (ran.id, "FAIL", 1, "answered 503")
    assert (row["fire_time"], row["due_at"], row["payload"]) == (at, at, {"title": "x"})
    await tasks.schedule(ctx, TYPE, "42", at=at, payload={"title": "y"})
    assert (await live(store))["payload"] == {"title": "y"}


async def test_a_running_task_is_cancelled_and_a_new_one_inserted_under_the_same_idempotency_key(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, TYPE, "42", payload=1)
    [ran] = await claim_everywhere(store)
    at = store.cells[0].clock.now() + timedelta(hours=1)
    answer = await tasks.schedule(ctx, TYPE, "42", at=at)
    assert (answer.decision, answer.replaced_id) == ("replaced", ran.id)
    row = await live(store)
    assert row["id"] == answer.instance_id != ran.id
    assert (row["idem_key"], row["generation"], row["payload"], row["attempt"]) == (ran.idem_key, 1, 1, 0)
    [past] = await query(store, "select * from instance_history")
    assert (past["id"], past["state"]) == (ran.id, "CANCELLED")
    assert await settle(store, ran, Success()) == (0, 1), "the late answer is refused and counted"


async def test_a_key_that_succeeded_is_remembered_after_its_history_is_gone(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, TYPE, "42")
    [ran] = await claim_everywhere(store)
    await settle(store, ran, Success())
    await query(store, "truncate instance_history")
    answer = await tasks.schedule(ctx, TYPE, "42")
    assert (answer.decision, answer.reason, answer.instance_id) == ("ignored", "succeeded", None)
    assert await query(store, "select * from instance_live") == []


async def test_a_dead_key_starts_a_new_generation_with_a_new_idempotency_key(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, TYPE, "42")
    lane, keys = Lane.FIRST, set()
    for _ in range(6):
        [ran] = await claim_everywhere(store, lane=lane)
        keys.add(ran.idem_key)
        await settle(store, ran, FAILED)
        await move_clock(store, minutes=10)
        lane = Lane.RETRY
    answer = await tasks.schedule(ctx, TYPE, "42")
    row = await live(store)
    assert (answer.decision, row["generation"], row["retry_count"]) == ("created", 2, 0)
    assert len(keys) == 1
    assert row["idem_key"] not in keys


async def test_a_time_in_the_past_is_due_now_and_keeps_its_nominal_time(ctx, store):
    await a_type(ctx)
    now = store.cells[0].clock.now()
    await tasks.schedule(ctx, TYPE, "42", at=now - timedelta(days=3))
    row = await live(store)
    assert row["fire_time"] == now - timedelta(days=3)
    assert now <= row["due_at"] <= now + timedelta(seconds=10)


async def test_the_ledger_keeps_the_last_twenty_decisions(ctx, store):
    await a_type(ctx)
    start = store.cells[0].clock.now()
    for n in range(25):
        await tasks.schedule(ctx, TYPE, "42", at=start + timedelta(hours=n + 1))
    shown = await tasks.show(ctx, TYPE, "42")
    assert len(shown.decisions) == 20
    assert {line["decision"] for line in shown.decisions} == {"moved"}
    assert datetime.fromisoformat(shown.decisions[-1]["at"]) == start + timedelta(hours=25)
    assert shown.known.ledger.revision == 25


async def test_cancel_ends_what_waits_or_runs_and_says_so(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, TYPE, "42")
    [ran] = await claim_everywhere(store)
    assert (await tasks.cancel(ctx, TYPE, "42")).decision == "cancelled"
    assert await settle(store, ran, Success()) == (0, 1)
    again = await tasks.cancel(ctx, TYPE, "42")
    assert (again.decision, again.reason) == ("ignored", "not_live")
    with pytest.raises(NotFound):
        await tasks.cancel(ctx, TYPE, "43")


async def test_an_older_cancel_does_not_undo_a_newer_schedule(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, TYPE, "42", version=7)
    answer = await tasks.cancel(ctx, TYPE, "42", version=6)
    assert (answer.decision, answer.reason) == ("ignored", "stale")
    assert (await tasks.cancel(ctx, TYPE, "42", version=8)).decision == "cancelled"
    assert (await tasks.schedule(ctx, TYPE, "42", version=7)).decision == "ignored"


async def test_every_decision_leaves_its_event_in_its_own_transaction(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, TYPE, "42")
    await tasks.schedule(ctx, TYPE, "42")
    await claim_everywhere(store)
    await tasks.schedule(ctx, TYPE, "42")
    await tasks.cancel(ctx, TYPE, "42")
    await tasks.cancel(ctx, TYPE, "42")
    rows = await query(store, "select event from outbox where event like 'TASK_%' order by (body ->> 'revision')::int")
    assert [row["event"] for row in rows] == [
        "TASK_CREATED",
        "TASK_MOVED",
        "TASK_REPLACED",
        "TASK_CANCELLED",
        "TASK_IGNORED",
    ]


async def test_only_jobs_with_keys_take_times(ctx):
    await a_job(ctx, "recurring")
    for name in ("recurring", "nothing"):
        with pytest.raises(NotFound):
            await tasks.schedule(ctx, name, "42")
    await a_type(ctx)
    with pytest.raises(Invalid):
        await tasks.schedule(ctx, TYPE, "")
    with pytest.raises(Invalid):
        await tasks.schedule(ctx, TYPE, "42", at=datetime(2026, 1, 1))


async def test_tasks_of_a_wide_tenant_live_in_both_cells(ctx, store):
    await a_type(ctx)
    for n in range(50):
        await tasks.schedule(ctx, TYPE, str(n))
    counts = [len(await query(cell, "select * from instance_live")) for cell in store.cells]
    assert sum(counts) == 50
    assert min(counts) > 5


async def prepared(ctx, store, version=None):
    """A decision about key 42, read and decided but not written yet, and a way to write it."""
    job = await jobs.find(ctx, TYPE)
    place = rows.TaskPlace(ctx.tenant.shard(f"{TYPE}/42"), ctx.tenant.id, job.id, "42")
    intent = Intent(store.cells[0].clock.now() + timedelta(hours=1), version=version)
    async with store.statement(place.shard) as tx:
        change = decide(await rows.find(tx, place), intent)

    async def write():
        async with store.tx(place.shard) as tx:
            if isinstance(change, MoveDecision):
                return await rows.move(tx, place, change, intent, {})
            assert isinstance(change, Replace)
            return await rows.replace(tx, place, change, intent, new_task_row(job, place, 1, tx.now), {})

    return change, write


async def test_a_replacement_prepared_for_a_running_task_leaves_it_alone_once_it_waits_again(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, TYPE, "42")
    [ran] = await claim_everywhere(store)
    change, write = await prepared(ctx, store)
    assert isinstance(change, Replace)
    await settle(store, ran, FAILED)
    assert await write() is None
    assert ((await live(store))["id"], (await live(store))["state"]) == (ran.id, "FAIL")


async def test_a_move_prepared_for_a_waiting_task_never_touches_a_running_one(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, TYPE, "42")
    change, write = await prepared(ctx, store)
    assert isinstance(change, MoveDecision)
    [ran] = await claim_everywhere(store)
    assert await write() is None
    row = await live(store)
    assert (row["state"], row["token"], row["fire_time"]) == ("RUNNING", ran.token, ran.fire_time)


async def test_a_move_prepared_before_a_newer_intent_came_is_not_written(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, TYPE, "42", version=1)
    change, write = await prepared(ctx, store, version=2)
    newer = await tasks.schedule(ctx, TYPE, "42", at=store.cells[0].clock.now() + timedelta(hours=5), version=3)
    assert isinstance(change, MoveDecision)
    assert await write() is None
    assert (await live(store))["fire_time"] == newer.at
