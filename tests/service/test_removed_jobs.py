"""A job that was removed calls nobody any more: not by a retry, not by a trigger that crossed, not by its own key."""

import pytest

from horae.domain.errors import NotFound
from horae.domain.instances.outcomes import ErrorCode, Retryable
from horae.domain.schedules.triggers import DelayTrigger, ManualTrigger
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.service.instances import instances
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.service.workers import claims
from tests.catcher import catching
from tests.engine.running import TTL
from tests.nodes import node_in
from tests.steps import a_job, claim_everywhere, move_clock, query, settle


@pytest.fixture
async def catcher(store):
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher


async def drained(store):
    node = node_in(store, "n", TTL)
    try:
        return await node.drain()
    finally:
        await node.leave()


async def ends(store):
    """What is left of every instance."""
    assert not await query(store, "select from instance_live")
    return [(row["state"], row["reason"]) for row in await query(store, "select state, reason from instance_history")]


async def test_an_attempt_that_fails_after_the_removal_is_not_tried_again(ctx, store, catcher):
    await a_job(ctx, "gone", ManualTrigger(), target=HttpTarget(catcher.url))
    await instances.trigger(ctx, "gone", "k", even_if_down=True)
    [ran] = await claim_everywhere(store)
    await jobs.remove(ctx, "gone")
    await settle(store, ran, Retryable(ErrorCode.TIMEOUT, "no answer"))
    await move_clock(store, hours=1)
    await drained(store)
    assert not catcher.arrivals
    assert await ends(store) == [("SKIPPED", "REMOVED")]


async def test_no_worker_is_given_a_retry_of_a_job_that_was_removed(ctx, store):
    await a_job(ctx, "gone", ManualTrigger(), target=QueueTarget("q"))
    await instances.trigger(ctx, "gone", "k", even_if_down=True)
    assert len(await claims.claim(ctx, "q", "w")) == 1
    await jobs.remove(ctx, "gone")
    await query(store, "update instance_live set state = 'INIT', token = null, deadline = null, worker_id = null")
    await move_clock(store, hours=1)
    assert await claims.claim(ctx, "q", "w") == []
    assert await ends(store) == [("SKIPPED", "REMOVED")]


async def test_a_trigger_that_crosses_the_removal_fires_nothing(ctx, store, catcher, monkeypatch):
    await a_job(ctx, "gone", ManualTrigger(), target=HttpTarget(catcher.url))
    find = jobs.find

    async def find_and_remove(ctx, name):
        """Someone else removes the job once it was read."""
        found = await find(ctx, name)
        monkeypatch.setattr(jobs, "find", find)
        await jobs.remove(ctx, name)
        return found

    monkeypatch.setattr(jobs, "find", find_and_remove)
    await instances.trigger(ctx, "gone", "k", even_if_down=True)
    await drained(store)
    assert not catcher.arrivals
    assert await ends(store) == [("SKIPPED", "REMOVED")]


async def test_the_key_of_a_removed_job_is_not_set_anew(ctx, store):
    await a_job(ctx, "gone", DelayTrigger(3600))
    await tasks.schedule(ctx, "gone", "self")
    await jobs.remove(ctx, "gone")
    with pytest.raises(NotFound):
        await tasks.schedule(ctx, "gone", "self")
