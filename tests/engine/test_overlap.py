"""Overlap policies at work: what becomes of a fire while the one before still lives, also when both happen at once."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise
from types import SimpleNamespace

import pytest

from horae.domain.instances.outcomes import AcceptedCall, LostAttempt, Success
from horae.domain.schedules import Misfire, OnMisfire, OnOverlap, Policies
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.domain.workers.completion_tokens import completion_token
from horae.domain.workers.workers import Finish
from horae.repositories.definitions import Definitions
from horae.repositories.settle import AttemptOutcome, Settler
from horae.service.instances import instances
from horae.service.jobs import jobs
from horae.service.workers import claims, workers
from tests.engine.running import ended, running
from tests.steps import Looker, a_job, claim, every, move_clock, query, until


def one_at_a_time(overlap, **facts):
    return Policies(overlap=overlap, **facts)


async def of_job(ctx, name="job"):
    """State and reason, oldest fire first."""
    return [(past.state, past.reason) for past in reversed(await instances.of_job(ctx, name))]


@asynccontextmanager
async def firing(ctx, store, catcher, overlap, number):
    """A node with a job every second whose first call hangs, until so many fires have a row."""
    catcher.answer = lambda _arrival: None if len(catcher.arrivals) == 1 else 200
    target = HttpTarget(catcher.url, read_timeout=20)
    await a_job(ctx, trigger=every(ctx, 1), target=target, policies=one_at_a_time(overlap))
    async with running(store) as node:
        await until(lambda: _rows(store, number))
        yield node


async def _rows(store, number):
    found = await query(
        store, "select (select count(*) from instance_live) + (select count(*) from instance_history) as many"
    )
    return sum(row["many"] for row in found) >= number


async def test_allow_runs_them_beside_each_other(ctx, store, catcher):
    async with firing(ctx, store, catcher, OnOverlap.ALLOW, 3):
        await until(lambda: ended(store, 2))
        assert len(catcher.hanging) == 1
        catcher.release()
    assert {state for state, _ in await of_job(ctx)} <= {"SUCCESS", "RUNNING", "INIT"}


async def test_forbid_skips_while_one_lives_and_goes_on_after_it(ctx, store, catcher):
    async with firing(ctx, store, catcher, OnOverlap.FORBID, 3):
        assert await of_job(ctx) == [("RUNNING", None), ("SKIPPED", "OVERLAP"), ("SKIPPED", "OVERLAP")]
        catcher.release()
        await until(lambda: ended(store, 2))
    assert len(catcher.arrivals) >= 2
    past = await of_job(ctx)
    assert past[:3] == [("SUCCESS", None), ("SKIPPED", "OVERLAP"), ("SKIPPED", "OVERLAP")]
    assert ("SUCCESS", None) in past[3:]


async def test_replace_ends_the_one_before_and_refuses_its_late_answer(ctx, store, catcher):
    async with firing(ctx, store, catcher, OnOverlap.REPLACE, 2) as node:
        await until(lambda: ended(store, 1))
        assert len(catcher.hanging) == 1, "a call in flight is never aborted"
        catcher.release()
        await until(lambda: sum(post.settler.late for post in node.runners.values()) == 1)
    assert (await of_job(ctx))[:2] == [("CANCELLED", None), ("SUCCESS", None)]


async def test_queue_one_lets_one_wait_skips_the_next_and_releases_it_with_the_end(ctx, store, catcher):
    """The node is told of it: it looks no more by then."""
    async with firing(ctx, store, catcher, OnOverlap.QUEUE_ONE, 3) as node:
        assert await of_job(ctx) == [("RUNNING", None), ("BLOCKED", None), ("SKIPPED", "OVERLAP")]
        waiting = [past.fire_time for past in await instances.of_job(ctx, "job") if past.state == "BLOCKED"]
        for loop in node._looks.values():
            loop.stop()
        catcher.release()
        await until(lambda: bool(waiting) and any(a.fire_time == waiting[0] for a in catcher.arrivals))
        await until(lambda: ended(store, 2))
    past = await of_job(ctx)
    assert past[:3] == [("SUCCESS", None), ("SUCCESS", None), ("SKIPPED", "OVERLAP")]


# By hand, without a node: what a worker runs, and races.


class Hand:
    """A job with a queue target, fired and settled step by step."""

    def __init__(self, ctx, store, job):
        self.ctx, self.store, self.job = ctx, store, job
        self.cell = store.cell(job.shard)
        self.looker = Looker(store, self.cell)

    async def fire(self):
        await move_clock(self.store, seconds=10)
        await self.looker.once()

    async def take(self):
        """Claim whatever is due of it."""
        [ran] = await claim(self.cell, self.store)
        return ran

    async def settle(self, ran, outcome):
        async with self.cell.statement() as tx:
            known = await Definitions().load(tx, {(ran.shard, ran.job_id, ran.job_version)})
        return await Settler(self.cell).settle([AttemptOutcome(ran, known[ran.job_id, ran.job_version], outcome)])


@pytest.fixture
def hand(ctx, store):
    async def make(overlap, **facts):
        policies = one_at_a_time(overlap, **facts.pop("policies", {}))
        return Hand(ctx, store, await a_job(ctx, trigger=every(ctx, 10), policies=policies, **facts))

    return make


async def test_one_that_was_lost_and_waits_for_its_next_try_still_lives(ctx, hand):
    job = await hand(OnOverlap.FORBID)
    await job.fire()
    await job.settle(await job.take(), LostAttempt())
    await job.fire()
    assert await of_job(ctx) == [("INIT", None), ("SKIPPED", "OVERLAP")]


async def test_replace_takes_the_place_of_one_that_still_waits(ctx, hand):
    job = await hand(OnOverlap.REPLACE)
    for _ in range(3):
        await job.fire()
    assert await of_job(ctx) == [("CANCELLED", None), ("CANCELLED", None), ("INIT", None)]


async def test_a_fire_that_waits_for_a_workers_is_released_when_the_worker_finishes(ctx, hand):
    job = await hand(OnOverlap.QUEUE_ONE, target=QueueTarget("work"))
    await job.fire()
    [held] = await claims.claim(ctx, "work", "w")
    await job.fire()
    assert await of_job(ctx) == [("RUNNING", None), ("BLOCKED", None)]
    assert await claims.claim(ctx, "work", "w") == []
    await workers.finish(ctx, [Finish(held.instance_id, held.attempt, held.token, Success())])
    assert await of_job(ctx) == [("SUCCESS", None), ("INIT", None)]
    assert len(await claims.claim(ctx, "work", "w")) == 1


async def test_an_end_that_releases_another_fire_is_one_transaction(ctx, store, hand, monkeypatch):
    """A process that dies between the two leaves a fire that waits for nothing, for ever where its job has no next."""
    job = await hand(OnOverlap.QUEUE_ONE)
    await job.fire()
    ran = await job.take()
    await job.fire()

    async def die(*_args):
        raise ConnectionError

    monkeypatch.setattr("horae.repositories.settle.instances.release", die)
    with pytest.raises(ConnectionError):
        await job.settle(ran, Success())
    assert await of_job(ctx) == [("RUNNING", None), ("BLOCKED", None)]


async def test_a_fire_released_by_a_target_that_answered_202_wakes_its_node(ctx, store, hand):
    job = await hand(OnOverlap.QUEUE_ONE)
    await job.fire()
    ran = await job.take()
    await job.settle(ran, AcceptedCall(60))
    await job.fire()
    assert await of_job(ctx) == [("RUNNING", None), ("BLOCKED", None)]
    woken = []
    wakes = SimpleNamespace(wake=lambda shard, at: woken.append((shard, at)))
    token = completion_token(ran.id, ran.attempt, ran.token)
    await workers.finish(ctx._replace(wakes=wakes), [Finish(ran.id, ran.attempt, token, Success())])
    [row] = await query(store, "select shard_id, due_at from instance_live")
    assert woken == [tuple(row)]


async def test_a_fire_that_waits_for_nothing_is_released_by_the_next_one(ctx, store, hand):
    """Should an end ever have passed it by."""
    job = await hand(OnOverlap.QUEUE_ONE)
    await job.fire()
    await job.take()
    await job.fire()
    await query(store, "delete from instance_live where state = 'RUNNING'")
    await job.fire()
    assert await of_job(ctx) == [("INIT", None), ("SKIPPED", "OVERLAP")]


@pytest.mark.parametrize("overlap", [OnOverlap.FORBID, OnOverlap.REPLACE, OnOverlap.QUEUE_ONE])
async def test_fires_and_ends_at_the_same_moment_leave_nothing_that_waits_for_ever(ctx, store, hand, overlap):
    """Whoever comes first: each fire has one verdict, and what is blocked has someone to wait for."""
    job = await hand(overlap)
    for _ in range(40):
        await move_clock(store, seconds=10)
        taken = await claim(job.cell, store)
        await asyncio.gather(job.looker.once(), *(job.settle(ran, Success()) for ran in taken))
        states = [row["state"] for row in await query(store, "select state from instance_live")]
        assert states.count("BLOCKED") <= 1
        assert len(states) - states.count("BLOCKED") == 1 or states == [], "one at a time, and nobody waits alone"
    rows = await query(store, "select fire_time from instance_live union all select fire_time from instance_history")
    assert len({row["fire_time"] for row in rows}) == len(rows) == 40


async def test_two_nodes_at_the_same_cursor_let_one_of_them_decide(ctx, store, hand):
    job = await hand(OnOverlap.QUEUE_ONE)
    lookers = [Looker(store, job.cell) for _ in range(4)]
    for _ in range(15):
        await move_clock(store, seconds=10)
        await asyncio.gather(*(looker.once() for looker in lookers))
        for ran in await claim(job.cell, store):
            await job.settle(ran, Success())
    rows = await query(store, "select fire_time from instance_live union all select fire_time from instance_history")
    assert len({row["fire_time"] for row in rows}) == len(rows) == 15


async def test_fires_made_up_for_at_a_pace_are_kept_apart_by_their_times(ctx, store, hand):
    job = await hand(OnOverlap.FORBID, policies={"misfire": Misfire(OnMisfire.ALL, pace=5)})
    await move_clock(store, seconds=110)
    await job.looker.once()
    rows = await query(store, "select due_at, fire_time from instance_live order by fire_time")
    late = store.cells[0].clock.now() - timedelta(seconds=60)
    made_up = [row["due_at"] for row in rows if row["fire_time"] < late]
    assert len(made_up) >= 4
    assert {(b - a).total_seconds() for a, b in pairwise(made_up)} == {5}


async def test_a_removed_job_leaves_nothing_that_waits(ctx, store, hand):
    job = await hand(OnOverlap.QUEUE_ONE)
    await job.fire()
    ran = await job.take()
    await job.fire()
    await jobs.remove(ctx, "job")
    await job.settle(ran, Success())
    rows = await query(store, "select state from instance_history")
    assert sorted(row["state"] for row in rows) == ["CANCELLED", "SUCCESS"]
