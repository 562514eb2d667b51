"""What a person asks for keeps the overlap policy of its job, too: triggers, and dead letters sent again one by one."""

import pytest

from horae.domain.instances.outcomes import ErrorCode, Success, Unrecoverable
from horae.domain.schedules import OnOverlap, Policies
from horae.domain.targets.targets import HttpTarget
from horae.repositories.settle import AttemptOutcome, Settler
from horae.service.instances import instances, replays
from horae.service.jobs import jobs
from tests.steps import Looker, a_job, claim_everywhere, every, move_clock, query

TARGET = HttpTarget("http://127.0.0.1:9/")
SUCCESS = Success()


async def states(store):
    return [row["state"] for row in await query(store, "select state from instance_live order by id")]


async def an_exclusive_job(ctx, overlap):
    return await a_job(ctx, "job", every(ctx, 60, "job"), target=TARGET, policies=Policies(overlap=overlap))


async def settle(ctx, store, ran, outcome=SUCCESS):
    """With the job at hand, as a node does it: the end releases what waits."""
    job = await jobs.find(ctx, "job")
    await Settler(store.cell(ran.shard)).settle([AttemptOutcome(ran, job, outcome)])


async def fire(store):
    await move_clock(store, seconds=61)
    for cell in store.cells:
        await Looker(store, cell).once()


@pytest.mark.parametrize("overlap", [OnOverlap.FORBID, OnOverlap.QUEUE_ONE])
async def test_a_trigger_waits_for_the_fire_that_runs_and_triggers_run_one_after_the_other(ctx, store, overlap):
    await an_exclusive_job(ctx, overlap)
    await fire(store)
    [ran] = await claim_everywhere(store)
    for key in ("a", "b"):
        await instances.trigger(ctx, "job", key, even_if_down=True)
    assert await states(store) == ["RUNNING", "BLOCKED", "BLOCKED"]
    await settle(ctx, store, ran)
    assert await states(store) == ["INIT", "BLOCKED"]
    [ran] = await claim_everywhere(store)
    await settle(ctx, store, ran)
    assert await states(store) == ["INIT"]


async def test_a_fire_does_not_run_beside_what_was_triggered(ctx, store):
    await an_exclusive_job(ctx, OnOverlap.FORBID)
    await instances.trigger(ctx, "job", "a", even_if_down=True)
    await claim_everywhere(store)
    await fire(store)
    assert await states(store) == ["RUNNING"]
    [told] = await query(store, "select state, reason from instance_history")
    assert tuple(told) == ("SKIPPED", "OVERLAP")


async def test_a_trigger_takes_the_place_of_what_runs_where_the_policy_says_so(ctx, store):
    await an_exclusive_job(ctx, OnOverlap.REPLACE)
    await fire(store)
    await claim_everywhere(store)
    await instances.trigger(ctx, "job", "a", even_if_down=True)
    assert await states(store) == ["INIT"]
    [told] = await query(store, "select state from instance_history")
    assert told["state"] == "CANCELLED"


async def test_a_dead_letter_that_is_sent_again_waits_for_the_fire_that_runs(ctx, store):
    await an_exclusive_job(ctx, OnOverlap.FORBID)
    await fire(store)
    [ran] = await claim_everywhere(store)
    await settle(ctx, store, ran, Unrecoverable(ErrorCode.HTTP_4XX, "answered 404"))
    await fire(store)
    [other] = await claim_everywhere(store)
    await replays.replay(ctx, ran.id)
    assert await states(store) == ["RUNNING", "BLOCKED"]
    await settle(ctx, store, other)
    assert await states(store) == ["INIT"]


async def test_a_letter_whose_replay_is_displaced_by_a_trigger_may_be_sent_again(ctx, store):
    await an_exclusive_job(ctx, OnOverlap.REPLACE)
    await fire(store)
    [ran] = await claim_everywhere(store)
    await settle(ctx, store, ran, Unrecoverable(ErrorCode.HTTP_4XX, "answered 404"))
    await replays.replay(ctx, ran.id)
    await instances.trigger(ctx, "job", "a", even_if_down=True)
    [letter] = await query(store, "select replay_status from dead_letter")
    assert letter["replay_status"] == "NEW"
    await replays.replay(ctx, ran.id)


async def test_a_job_whose_fires_may_overlap_is_triggered_beside_them(ctx, store):
    await a_job(ctx, "job", every(ctx, 60, "job"), target=TARGET)
    await fire(store)
    await claim_everywhere(store)
    await instances.trigger(ctx, "job", "a", even_if_down=True)
    assert await states(store) == ["RUNNING", "INIT"]
