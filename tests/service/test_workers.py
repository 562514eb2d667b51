"""Heartbeats and reports: only with the right token, item by item, by the rules of every attempt."""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from msgspec.structs import replace

from horae.domain.errors import Invalid
from horae.domain.ids import shard_in
from horae.domain.instances.outcomes import AcceptedCall, DeclinedCall, Success
from horae.domain.schedules.triggers import DelayTrigger
from horae.domain.targets.targets import QueueTarget
from horae.domain.workers.completion_tokens import completion_token
from horae.domain.workers.workers import FailureReport, Finish, Heartbeat
from horae.engine.rescue import Rescuer
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.repositories.settle import Settler
from horae.runtime.telemetry import counts
from horae.service.context import Context, PlatformContext
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.service.workers import workers
from horae.store.nodes import shards
from horae.upkeep.copies import Copier
from tests.steps import a_job, a_type, claim_everywhere, move_clock, query, settle


@pytest.fixture
async def queue(ctx, store):
    await a_type(ctx, "MAIL", target=QueueTarget("mail", claim_seconds=30))
    await Copier(store).once()


async def claimed(ctx, many=1):
    for n in range(many):
        await tasks.schedule(ctx, "MAIL", str(n))
    return await workers.claim(ctx, "mail", "w")


def finish(one, said=Success()):  # noqa: B008
    return Finish(one.instance_id, one.attempt, one.token, said)


def held(one, seconds=None):
    return Heartbeat(one.instance_id, one.attempt, one.token, seconds)


async def verdicts(ctx, *reports):
    return [answer.verdict for answer in await workers.finish(ctx, reports)]


async def rescue(store):
    for cell in store.cells:
        await Rescuer(cell, Territory(store.shards_of(cell)), Definitions(), Settler(cell)).once()


async def test_each_report_has_its_own_answer_and_ends_by_the_rules(ctx, store, queue):
    one, two, three, four = await claimed(ctx, 4)
    await move_clock(store, seconds=2)
    said = [
        Success(),
        DeclinedCall("not pending"),
        FailureReport("never", retryable=False),
        FailureReport("busy", retry_after=40),
    ]
    reports = [finish(*pair) for pair in zip((one, two, three, four), said, strict=True)]
    answers = await workers.finish(ctx, reports)
    assert [answer.instance_id for answer in answers] == [report.instance_id for report in reports]
    assert {answer.verdict for answer in answers} == {"done"}
    rows = {row["id"]: row for row in await query(store, "select * from instance_history")}
    ended = {id_: (row["state"], row["reason"], row["error_code"], row["error_msg"]) for id_, row in rows.items()}
    assert ended == {
        one.instance_id: ("SUCCESS", None, None, None),
        two.instance_id: ("SKIPPED", "DECLINED", None, "not pending"),
        three.instance_id: ("DEAD", None, "HANDLER", "never"),
    }
    assert {row["worker_id"] for row in rows.values()} == {"w"}
    assert all(row["duration_ms"] >= 2000 for row in rows.values())
    [live] = await query(store, "select * from instance_live")
    assert (live["id"], live["state"], live["error_msg"]) == (four.instance_id, "FAIL", "busy")
    assert live["due_at"] - live["changed_at"] >= timedelta(seconds=40)
    [note] = live["attempts"]
    assert datetime.fromisoformat(note.pop("started_at")) < live["changed_at"]
    assert note.pop("duration_ms") >= 2000
    assert note == {"attempt": 1, "code": "HANDLER", "answer": "busy", "worker_id": "w"}


async def test_success_after_failures_keeps_their_number_and_clears_their_message(ctx, store, queue):
    [one] = await claimed(ctx)
    for _ in range(3):
        assert await verdicts(ctx, finish(one, FailureReport("busy"))) == ["done"]
        await move_clock(store, minutes=5)
        [one] = await workers.claim(ctx, "mail", "w")
    assert await verdicts(ctx, finish(one)) == ["done"]
    [row] = await query(store, "select state, retry_count, attempt, error_msg from instance_history")
    assert tuple(row) == ("SUCCESS", 3, 4, None)


async def test_what_is_given_back_keeps_what_it_failed_of_before(ctx, store, queue):
    [one] = await claimed(ctx)
    assert await verdicts(ctx, finish(one, FailureReport("busy"))) == ["done"]
    await move_clock(store, minutes=5)
    [one] = await workers.claim(ctx, "mail", "w")
    assert await verdicts(ctx, finish(one, FailureReport("not begun", counted=False))) == ["done"]
    [row] = await query(store, "select state, attempt, retry_count, error_msg from instance_live")
    assert tuple(row) == ("FAIL", 1, 1, "busy")


async def test_a_second_report_of_the_same_attempt_is_late_and_counted(ctx, store, queue):
    [one] = await claimed(ctx)
    before = counts["worker.refused"]
    assert await verdicts(ctx, finish(one), finish(one, FailureReport("no"))) == ["done", "late"]
    assert await verdicts(ctx, finish(one)) == ["late"]
    assert counts["worker.refused"] == before + 2
    assert len(await query(store, "select * from instance_history")) == 1


async def test_the_late_answer_of_a_replaced_attempt_is_refused_and_the_new_one_runs(ctx, store, queue):
    """A reschedule never aborts the call in flight."""
    [old] = await claimed(ctx)
    answer = await tasks.schedule(ctx, "MAIL", "0")
    assert (answer.decision, answer.replaced_id) == ("replaced", old.instance_id)
    [beat] = await workers.heartbeat(ctx, [held(old)])
    assert not beat.yours
    before = counts["worker.refused"]
    assert await verdicts(ctx, finish(old)) == ["late"]
    assert counts["worker.refused"] == before + 1
    [new] = await workers.claim(ctx, "mail", "w")
    assert (new.instance_id, new.idempotency_key) == (answer.instance_id, old.idempotency_key)
    assert await verdicts(ctx, finish(new)) == ["done"]
    rows = await query(store, "select id, state from instance_history")
    assert {row["id"]: row["state"] for row in rows} == {old.instance_id: "CANCELLED", new.instance_id: "SUCCESS"}


async def test_forged_old_and_foreign_tokens_are_all_refused(ctx, store, queue):
    one, two = await claimed(ctx, 2)
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "other"), "test")
    forged = [completion_token(one.instance_id, 1, uuid4()) for _ in range(300)]
    bad = [replace(finish(one), token=token) for token in (*forged, "", "x", two.token, "é" * 43)]
    bad += [replace(finish(one), attempt=attempt) for attempt in (-1, 0, 2, 2**40)]
    bad += [replace(finish(one), instance_id=id_) for id_ in (uuid4(), two.instance_id)]
    before = counts["worker.refused"]
    assert set(await verdicts(ctx, *bad)) == {"late"}
    assert set(await verdicts(other, finish(one), finish(two))) == {"late"}
    assert not any(answer.yours for answer in await workers.heartbeat(other, [held(one), held(two)]))
    assert counts["worker.refused"] == before + len(bad) + 4
    [mine, not_mine] = await workers.heartbeat(ctx, [held(one), replace(held(one), token=two.token)])
    assert (mine.yours, not_mine.yours) == (True, False)
    assert {row["state"] for row in await query(store, "select state from instance_live")} == {"RUNNING"}


async def test_the_token_of_an_attempt_that_was_rescued_is_refused(ctx, store, queue):
    [old] = await claimed(ctx)
    await move_clock(store, seconds=31)
    await rescue(store)
    [new] = await workers.claim(ctx, "mail", "w-2")
    assert (new.instance_id, new.attempt) == (old.instance_id, 2)
    assert await verdicts(ctx, finish(old), finish(new)) == ["late", "done"]


async def test_heartbeats_move_the_deadline_away_and_never_nearer(ctx, store, queue):
    [one] = await claimed(ctx)
    for _ in range(5):
        await move_clock(store, seconds=20)
        [beat] = await workers.heartbeat(ctx, [held(one)])
        assert beat.yours
        assert beat.deadline - store.cells[0].clock.now() > timedelta(seconds=25)
        await rescue(store)
    [far] = await workers.heartbeat(ctx, [held(one, 600)])
    [near] = await workers.heartbeat(ctx, [held(one, 1)])
    assert far.deadline == near.deadline > beat.deadline
    assert await verdicts(ctx, finish(one)) == ["done"]


async def test_a_worker_that_vanishes_three_times_leaves_a_crash_loop(ctx, store, queue):
    await tasks.schedule(ctx, "MAIL", "poison")
    for number in (1, 2, 3):
        [one] = await workers.claim(ctx, "mail", f"w-{number}")
        assert one.attempt == number
        await rescue(store)
        assert len(await query(store, "select * from instance_live where state = 'RUNNING'")) == 1
        await move_clock(store, seconds=31)
        await rescue(store)
    assert await workers.claim(ctx, "mail", "w-4") == []
    [past] = await query(store, "select state, error_code, error_msg, retry_count, worker_id from instance_history")
    assert tuple(past) == ("DEAD", "CRASH_LOOP", "its worker vanished 3 times", 0, "w-3")
    [letter] = await query(store, "select error_code, tag, replay_status from dead_letter")
    assert tuple(letter) == ("CRASH_LOOP", None, "NEW")


async def test_a_target_that_answered_202_is_heard_and_finishes_with_the_same_verbs(ctx, store):
    await a_job(ctx, "long", DelayTrigger(0))
    [ran] = await claim_everywhere(store)
    await settle(store, ran, AcceptedCall(60))
    token = completion_token(ran.id, ran.attempt, ran.token)
    await move_clock(store, seconds=50)
    [beat] = await workers.heartbeat(ctx, [Heartbeat(ran.id, ran.attempt, token, 120)])
    assert beat.yours
    await move_clock(store, seconds=100)
    await rescue(store)
    assert await verdicts(ctx, Finish(ran.id, ran.attempt, token, Success())) == ["done"]
    [past] = await query(store, "select state, worker_id from instance_history")
    assert tuple(past) == ("SUCCESS", "target")
    assert [row["status"] for row in await query(store, "select status from job")] == ["COMPLETED"]


async def test_while_a_shard_moves_nothing_is_late_it_is_just_not_now(ctx, store, queue):
    [one] = await claimed(ctx)
    shard = shard_in(one.instance_id)
    async with store.cell(shard).tx() as tx:
        await shards.freeze(tx, [shard])
    assert await verdicts(ctx, finish(one)) == ["not_now"]
    [beat] = await workers.heartbeat(ctx, [held(one)])
    assert (beat.yours, beat.deadline) == (True, None)
    await store.learn_shards()
    assert await verdicts(ctx, finish(one)) == ["not_now"]
    async with store.cells[shard // 2048].tx() as tx:
        await shards.activate(tx, [shard])
    await store.learn_shards()
    assert await verdicts(ctx, finish(one)) == ["done"]


async def test_one_request_speaks_of_a_bounded_number(ctx):
    one = Finish(uuid4(), 1, "t", Success())
    for many in (0, 1001):
        with pytest.raises(Invalid):
            await workers.finish(ctx, [one] * many)
        with pytest.raises(Invalid):
            await workers.heartbeat(ctx, [Heartbeat(uuid4(), 1, "t")] * many)
