"""Parameters of steps: what a run and the steps before know becomes the payload of a step when it is released."""

from datetime import timedelta

import pytest

from horae.domain.graphs.graphs import NeedsRule
from horae.domain.graphs.interventions import StepAction
from horae.domain.workers.workers import FailureReport
from horae.service.graphs import runs
from tests.engine.graphs import a_graph, begin, states, work_off, work_step
from tests.engine.test_graphs import draining
from tests.steps import every, move_clock, query

FAILED = FailureReport("no", retryable=False)


async def test_steps_get_facts_of_their_run_and_results_of_steps_before(ctx, store):
    payload = {
        "id": {"$result": "extract", "path": "items[1].id"},
        "all": {"$result": "extract"},
        "who": {"$run": "payload", "path": "who"},
        "at": {"$run": "fire_time"},
        "none": {"$run": "previous_fire_time", "default": "never"},
        "as_it_is": {"$value": {"$run": "fire_time"}},
        "deep": [{"x": {"$result": "extract", "path": "missing", "default": None}}],
        "plain": 7,
    }
    await a_graph(
        ctx, [work_step("extract"), work_step("between", "extract"), work_step("load", "between", payload=payload)]
    )
    run_id = await begin(ctx, payload={"who": "me"})
    result = {"items": [{"id": 1}, {"id": 2}]}
    async with draining(store) as drain:
        done = await work_off(ctx, drain, lambda name, _: result if name == "extract" else None)
    assert (await states(ctx, run_id))[0] == "SUCCESS"
    [sent] = [payload for name, payload, _ in done if name == "load"]
    run = (await runs.find(ctx, run_id)).run
    assert sent == {
        "id": 2,
        "all": result,
        "who": "me",
        "at": run.fire_time.isoformat(),
        "none": "never",
        "as_it_is": {"$run": "fire_time"},
        "deep": [{"x": None}],
        "plain": 7,
    }
    rows = await query(store, "select payload from instance_history where payload is not null")
    assert len(rows) == 2
    assert all(set(row["payload"]) == {"$sealed"} for row in rows), "like any payload, it is stored encrypted"


async def test_every_attempt_of_a_step_sends_the_same_payload(ctx, store):
    payload = {"got": {"$result": "a"}, "before": {"$run": "previous_fire_time"}}
    steps = [work_step("a"), work_step("b", "a", payload=payload), work_step("c", "b")]  # c keeps the run open
    await a_graph(ctx, steps, trigger=every(ctx, 3600, "graph"))
    tries = []

    def handle(name, payload):
        if name != "b":
            return {"n": 1}
        if name == "b":
            tries.append(payload)
            return FAILED if len(tries) == 1 else None
        return None

    async with draining(store) as drain:
        await drain()
        await move_clock(store, seconds=3600)
        await work_off(ctx, drain, handle)
        [run] = await runs.listing(ctx, "graph")
        await runs.change_step(ctx, run.id, "b", StepAction.RETRY)
        await work_off(ctx, drain, handle)
    before = (run.fire_time - timedelta(hours=1)).isoformat()
    assert tries == [{"got": {"n": 1}, "before": before}] * 2


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"$result": "a", "path": "x.y"}, "the result of step 'a' at x.y has no value"),
        ({"$run": "payload"}, "the run's 'payload' has no value"),
        ({"$run": "previous_fire_time"}, "the run's 'previous_fire_time' has no value"),
        ({"$result": "a", "path": "nothing"}, "the payload is null"),
        ([{"$result": "a", "path": "long"}] * 3, "the payload has more than 65536 bytes"),
    ],
)
async def test_a_parameter_without_a_value_fails_its_step_with_a_reason(ctx, store, payload, reason):
    await a_graph(
        ctx,
        [
            work_step("a"),
            work_step("b", "a", payload=payload),
            work_step("c", "b"),
            work_step("repair", "b", rule=NeedsRule.ANY_FAILED),
        ],
    )
    run_id = await begin(ctx)
    async with draining(store) as drain:
        done = await work_off(ctx, drain, lambda *_: {"nothing": None, "long": "x" * 30_000})
    assert [name for name, *_ in done] == ["a", "repair"]
    assert await states(ctx, run_id) == ("OPEN", {"a": "SUCCESS", "b": "DEAD", "c": "BLOCKED", "repair": "SUCCESS"})
    [row] = [row for row in (await runs.find(ctx, run_id)).steps if row.name == "b"]
    assert row.reason == f"UNRESOLVED: {reason}"
