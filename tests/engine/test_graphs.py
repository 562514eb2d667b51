"""Graphs: steps run in the order of their needs, a failed one blocks those behind it, and people decide."""

from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from horae.domain.errors import Conflict, Invalid, NotFound
from horae.domain.graphs.graphs import GRAPH_QUEUE, NeedsRule
from horae.domain.graphs.interventions import StepAction
from horae.domain.instances.outcomes import Success
from horae.domain.jobs.jobs import JobFilter
from horae.domain.workers.workers import Finish
from horae.service.graphs import runs
from horae.service.instances import interventions
from horae.service.jobs import jobs
from horae.service.workers import claims, workers
from tests.engine.graphs import a_graph, a_queue, begin, states, step
from tests.nodes import node_in
from tests.steps import a_job, every, move_clock, query

TTL = timedelta(seconds=30)


@asynccontextmanager
async def draining(store):
    node = node_in(store, "n", TTL)
    try:
        yield node.drain
    finally:
        await node.leave()


def refuse(catcher, *names):
    catcher.answer = lambda arrival: 400 if arrival.path.strip("/") in names else 200


def called(catcher):
    return [arrival.path.strip("/") for arrival in catcher.arrivals]


async def test_steps_run_in_the_order_of_their_needs_and_the_run_succeeds(ctx, store, catcher):
    url = catcher.url
    await a_graph(ctx, [step(url, "d", "b", "c"), step(url, "b", "a"), step(url, "c", "a"), step(url, "a")])
    run_id = await begin(ctx)
    async with draining(store) as drain:
        await drain()
    order = called(catcher)
    assert sorted(order) == ["a", "b", "c", "d"], "each step is called once"
    assert (order[0], order[-1]) == ("a", "d")
    assert await states(ctx, run_id) == ("SUCCESS", dict.fromkeys("abcd", "SUCCESS"))
    [row] = await query(store, "select state from instance_history where id = $1", run_id)
    assert row["state"] == "SUCCESS", "the run is an instance of the graph's job"
    fires = {arrival.fire_time for arrival in catcher.arrivals}
    assert len(fires) == 1, "all steps have the fire time of the run"


async def test_a_run_begins_at_every_fire_time(ctx, store, catcher):
    await a_graph(ctx, [step(catcher.url, "a"), step(catcher.url, "b", "a")], trigger=every(ctx, 60, "graph"))
    async with draining(store) as drain:
        await drain()
        before = len(await runs.listing(ctx, "graph"))
        await move_clock(store, seconds=60)
        await drain()
    found = await runs.listing(ctx, "graph")
    assert len(found) == before + 1
    assert {run.state for run in found} == {"SUCCESS"}


async def test_seed_002_example_6_a_failed_parent_blocks_all_its_children_and_alerts(ctx, store, catcher):
    """Example 6 of the seed: in a graph of dependencies a parent fails; all its children are blocked, and it alerts."""
    url = catcher.url
    refuse(catcher, "parent")
    await a_graph(
        ctx, [step(url, "parent"), step(url, "other"), *(step(url, f"child{n}", "parent") for n in range(3)),
              step(url, "grandchild", "child0", "child1", "child2")],
    )  # fmt: skip
    run_id = await begin(ctx)
    async with draining(store) as drain:
        await drain()
    assert sorted(called(catcher)) == ["other", "parent"], "no child was called"
    state, found = await states(ctx, run_id)
    assert state == "OPEN", "the run waits for a person"
    assert found.pop("parent") == "DEAD"
    assert found.pop("other") == "SUCCESS", "what does not depend on it went on"
    assert set(found.values()) == {"BLOCKED"}
    [event] = await query(store, "select instance_id, body from outbox where event = 'GRAPH_BLOCKED'")
    assert event["instance_id"] == run_id
    assert sorted(event["body"]["steps"]) == ["child0", "child1", "child2", "grandchild"]
    [letter] = await query(store, "select error_code from dead_letter")
    assert letter["error_code"] == "HTTP_4XX"


@pytest.mark.parametrize("action", list(StepAction))
async def test_a_person_lets_a_blocked_run_go_on_and_it_is_audited(ctx, store, catcher, action):
    url = catcher.url
    refuse(catcher, "a")
    await a_graph(ctx, [step(url, "a"), step(url, "b", "a")])
    run_id = await begin(ctx)
    async with draining(store) as drain:
        await drain()
        refuse(catcher)
        await runs.change_step(ctx, run_id, "a", action)
        await drain()
    state, found = await states(ctx, run_id)
    assert (state, found["b"]) == ("SUCCESS", "SUCCESS")
    assert found["a"] == ("WAIVED" if action == StepAction.SKIP else "SUCCESS")
    assert called(catcher) == (["a", "a", "b"] if action == StepAction.RETRY else ["a", "b"])
    keys = [arrival.idempotency_key for arrival in catcher.of("/a")]
    assert len(set(keys)) == 1, "a step that failed keeps its key: nothing had taken effect"
    [row] = await query(store, "select actor, detail from audit_log where action = $1", f"graph.step.{action}")
    assert (row["actor"], row["detail"]["step"], row["detail"]["before"]) == ("test", "a", "DEAD")
    with pytest.raises(Conflict, match="has ended"):
        await runs.change_step(ctx, run_id, "a", action)


async def test_a_step_that_runs_again_runs_all_steps_behind_it_again(ctx, store, catcher):
    url = catcher.url
    refuse(catcher, "c")
    await a_graph(ctx, [step(url, "a"), step(url, "b", "a"), step(url, "c", "b"), step(url, "d", "c")])
    run_id = await begin(ctx)
    async with draining(store) as drain:
        await drain()
        refuse(catcher)
        await runs.change_step(ctx, run_id, "b", StepAction.RETRY)
        await drain()
    assert called(catcher) == ["a", "b", "c", "b", "c", "d"]
    assert len({arrival.idempotency_key for arrival in catcher.of("/b")}) == 2, "it had succeeded: it is another effect"
    assert (await states(ctx, run_id))[0] == "SUCCESS"


async def test_steps_for_failures_run_when_something_failed_and_are_skipped_otherwise(ctx, store, catcher):
    url = catcher.url
    await a_graph(
        ctx,
        [
            step(url, "load"),
            step(url, "repair", "load", rule=NeedsRule.ANY_FAILED),
            step(url, "after_repair", "repair"),
            step(url, "report", "load", "repair", rule=NeedsRule.NONE_FAILED),
            step(url, "clean", "load", "report", rule=NeedsRule.ALL_DONE),
        ],
    )
    async with draining(store) as drain:
        good = await begin(ctx, key="good")
        await drain()
        refuse(catcher, "load")
        bad = await begin(ctx, key="bad")
        await drain()
    assert await states(ctx, good) == (
        "SUCCESS",
        {"load": "SUCCESS", "repair": "SKIPPED", "after_repair": "SKIPPED", "report": "SUCCESS", "clean": "SUCCESS"},
    )
    assert await states(ctx, bad) == (
        "OPEN",
        {"load": "DEAD", "repair": "SUCCESS", "after_repair": "SUCCESS", "report": "BLOCKED", "clean": "SUCCESS"},
    )


async def test_a_run_whose_last_step_failed_is_dead(ctx, store, catcher):
    refuse(catcher, "b")
    await a_graph(ctx, [step(catcher.url, "a"), step(catcher.url, "b", "a")])
    run_id = await begin(ctx)
    async with draining(store) as drain:
        await drain()
    assert (await states(ctx, run_id))[0] == "DEAD"
    [row] = await query(store, "select error_code, error_msg from instance_history where id = $1", run_id)
    assert (row["error_code"], row["error_msg"]) == ("HANDLER", "steps failed: b")


async def test_a_cancelled_run_cancels_its_steps(ctx, store, catcher):
    refuse(catcher, "a")
    await a_graph(ctx, [step(catcher.url, "a"), step(catcher.url, "b", "a")])
    run_id = await begin(ctx)
    async with draining(store) as drain:
        await drain()
        await interventions.cancel(ctx, run_id)
        await drain()
    assert await states(ctx, run_id) == ("CANCELLED", {"a": "DEAD", "b": "CANCELLED"})


async def test_a_cancelled_step_blocks_those_behind_it(ctx, store, catcher):
    await a_graph(ctx, [step(catcher.url, "a", target=a_queue()), step(catcher.url, "b", "a"), step(catcher.url, "c")])
    run_id = await begin(ctx)
    async with draining(store) as drain:
        await drain()
        [waiting] = [row for row in (await runs.find(ctx, run_id)).steps if row.name == "a"]
        await interventions.cancel(ctx, waiting.instance_id)
        await drain()
    assert await states(ctx, run_id) == ("OPEN", {"a": "CANCELLED", "b": "BLOCKED", "c": "SUCCESS"})


async def test_a_run_past_its_deadline_is_dead_and_what_is_left_is_cancelled(ctx, store, catcher):
    refuse(catcher, "a")
    await a_graph(ctx, [step(catcher.url, "a"), step(catcher.url, "b", "a")], deadline=3600)
    run_id = await begin(ctx)
    async with draining(store) as drain:
        await drain()
        assert (await states(ctx, run_id))[0] == "OPEN"
        await move_clock(store, seconds=3601)
        await drain()
    assert await states(ctx, run_id) == ("DEAD", {"a": "DEAD", "b": "CANCELLED"})
    [row] = await query(store, "select error_code from instance_history where id = $1", run_id)
    assert row["error_code"] == "TIMEOUT"


async def test_a_paused_graph_releases_no_step_until_it_is_resumed(ctx, store, catcher):
    await a_graph(ctx, [step(catcher.url, "a", target=a_queue()), step(catcher.url, "b", "a")])
    run_id = await begin(ctx)
    async with draining(store) as drain:
        await drain()
        await jobs.pause(ctx, "graph")
        [held] = await claims.claim(ctx, "work", "w")
        await workers.finish(ctx, [Finish(held.instance_id, held.attempt, held.token, Success())])
        await drain()
        assert await states(ctx, run_id) == ("OPEN", {"a": "SUCCESS", "b": "WAITING"})
        await jobs.resume(ctx, "graph")
        await drain()
    assert (await states(ctx, run_id))[0] == "SUCCESS"


async def test_a_removed_graph_takes_its_runs_and_step_jobs_with_it(ctx, store, catcher):
    refuse(catcher, "a")
    await a_graph(ctx, [step(catcher.url, "a"), step(catcher.url, "b", "a")])
    run_id = await begin(ctx)
    async with draining(store) as drain:
        await drain()
        await jobs.remove(ctx, "graph")
        await drain()
        assert {row["status"] for row in await query(store, "select status from job")} == {"REMOVED"}
        assert (await states(ctx, run_id))[0] == "CANCELLED"
        await a_graph(ctx, [step(catcher.url, "a")])
        again = await begin(ctx, key="again")
        refuse(catcher)
        await drain()
    assert (await states(ctx, again))[0] == "SUCCESS"


async def test_step_jobs_are_in_no_list_and_cannot_be_made_or_changed_as_jobs(ctx, store, catcher):
    graph = await a_graph(ctx, [step(catcher.url, "a"), step(catcher.url, "b", "a")])
    assert [job.name for job in await jobs.page(ctx, JobFilter())] == ["graph"]
    assert [job.name for job in await jobs.listing(ctx)] == ["graph"]
    [shard] = {row["shard_id"] for row in await query(store, "select shard_id from job")}
    assert shard == graph.shard, "a run and its steps live in one shard"
    with pytest.raises(Invalid, match="for the runs of graphs"):
        await claims.claim(ctx, GRAPH_QUEUE, "w")
    await a_job(ctx, "plain")
    with pytest.raises(NotFound, match="not a graph"):
        await runs.graph_of(ctx, "plain")
