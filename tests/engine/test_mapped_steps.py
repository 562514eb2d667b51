"""Mapped steps: one child for each element of a list, joined; failures are tolerated up to a share."""

from collections import Counter
from time import perf_counter

import pytest

from horae.domain.graphs.interventions import StepAction
from horae.domain.instances.outcomes import DeclinedCall, Success
from horae.domain.workers.workers import FailureReport
from horae.engine.graphs import GraphRunner
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.repositories.reports import ClearResult
from horae.repositories.settle import AttemptOutcome, Settler
from horae.service.graphs import runs
from horae.service.instances import interventions
from tests.engine.graphs import a_graph, begin, states, step, work_off, work_step
from tests.engine.test_graphs import draining
from tests.steps import claim, query

NOWHERE = "http://127.0.0.1:9"
FAILED = FailureReport("no", retryable=False)
EACH = {"$result": "extract", "path": "items"}


def mapped(*, handle_each=EACH, **facts):
    return [
        work_step("extract"),
        work_step("child", "extract", each=handle_each, **facts),
        work_step("join", "child", payload={"all": {"$result": "child", "default": None}}),
    ]


def extract(items, child):
    """A handler: the first step returns a list, each child what `child` says."""
    return lambda name, payload: {"items": items} if name == "extract" else child(payload) if name == "child" else None


async def reason_of(ctx, run_id, name="child"):
    return next(row.reason for row in (await runs.find(ctx, run_id)).steps if row.name == name)


async def test_a_step_runs_once_for_each_element_and_its_results_are_a_list(ctx, store):
    await a_graph(
        ctx, mapped(payload={"n": {"$item": True, "path": "n"}, "from": {"$result": "extract", "path": "by"}})
    )
    run_id = await begin(ctx)
    async with draining(store) as drain:
        done = await work_off(
            ctx,
            drain,
            lambda name, payload: (
                {"items": [{"n": n} for n in range(7)], "by": "me"}
                if name == "extract"
                else payload["n"] * 2
                if name == "child" and payload["n"] != 3
                else None
            ),
        )
    assert (await states(ctx, run_id))[0] == "SUCCESS"
    children = [payload for name, payload, _ in done if name == "child"]
    assert sorted(payload["n"] for payload in children) == list(range(7))
    assert {payload["from"] for payload in children} == {"me"}
    assert done[-1][:2] == ("join", {"all": [0, 2, 4, None, 8, 10, 12]})
    assert len({key for name, _, key in done if name == "child"}) == 7, "each element is an effect of its own"
    shown = await runs.children_of(ctx, run_id, "child")
    assert [(one.number, one.state) for one in shown] == [(n, "SUCCESS") for n in range(7)]


async def test_the_list_may_come_from_the_payload_of_the_run_and_may_be_empty(ctx, store):
    await a_graph(ctx, [work_step("child", each={"$run": "payload"}), work_step("join", "child")])
    async with draining(store) as drain:
        first = await begin(ctx, key="1", payload=["a", "b"])
        done = await work_off(ctx, drain, lambda *_: None)
        assert sorted(payload for name, payload, _ in done if name == "child") == ["a", "b"]
        empty = await begin(ctx, key="2", payload=[])
        done = await work_off(ctx, drain, lambda *_: None)
        assert [name for name, *_ in done] == ["join"]
    assert (await states(ctx, first))[0] == (await states(ctx, empty))[0] == "SUCCESS"


@pytest.mark.parametrize(("payload", "reason"), [({"no": 1}, "is not a list"), ([0] * 10_001, "more than 10000")])
async def test_what_is_no_list_of_allowed_length_fails_the_step(ctx, store, payload, reason):
    await a_graph(ctx, [work_step("child", each={"$run": "payload"})])
    run_id = await begin(ctx, payload=payload)
    async with draining(store) as drain:
        assert await work_off(ctx, drain, lambda *_: None) == []
    assert await states(ctx, run_id) == ("DEAD", {"child": "DEAD"})
    assert reason in await reason_of(ctx, run_id)


@pytest.mark.parametrize(("tolerated", "state"), [(0.3, "SUCCESS"), (0.2, "DEAD")])
async def test_a_mapped_step_succeeds_if_no_more_children_failed_than_are_tolerated(ctx, store, tolerated, state):
    await a_graph(ctx, mapped(tolerated_failures=tolerated))
    run_id = await begin(ctx)
    bad = {1: FAILED, 4: FAILED, 7: FAILED, 8: DeclinedCall("not mine")}
    async with draining(store) as drain:
        done = await work_off(ctx, drain, extract(list(range(10)), lambda n: bad.get(n, {"n": n})))
    assert (await states(ctx, run_id))[1]["child"] == state
    if state == "DEAD":
        assert await reason_of(ctx, run_id) == "CHILDREN_FAILED: 3 of 10 children failed, 2 tolerated"
    else:
        assert done[-1][1]["all"] == [None if n in bad else {"n": n} for n in range(10)]


async def test_no_more_children_are_live_than_allowed_and_none_starts_after_too_many_failures(ctx, store):
    await a_graph(ctx, mapped(concurrency=3))
    run_id = await begin(ctx)
    async with draining(store) as drain:
        live = []

        async def counting():
            await drain()
            live.append(len(await query(store, "select number from graph_child where state = 'RELEASED'")))

        done = await work_off(ctx, counting, extract(list(range(10)), lambda n: FAILED if n == 4 else None))
    assert max(live) == 3
    counts = Counter(row.state for row in await runs.children_of(ctx, run_id, "child"))
    assert (counts["DEAD"], counts["WAITING"]) == (1, 4), "the step fails anyway: the rest is not called"
    assert len(done) == 7
    assert (await states(ctx, run_id))[1] == {"extract": "SUCCESS", "child": "DEAD", "join": "BLOCKED"}


async def test_a_failed_mapped_step_that_runs_again_runs_only_what_did_not_succeed(ctx, store):
    await a_graph(ctx, mapped())
    run_id = await begin(ctx)
    async with draining(store) as drain:
        first = await work_off(ctx, drain, extract(list(range(5)), lambda n: FAILED if n in {1, 3} else n))
        await runs.change_step(ctx, run_id, "child", StepAction.RETRY)
        again = await work_off(ctx, drain, extract([], lambda n: n))
    assert [payload for name, payload, _ in again if name == "child"] == [1, 3]
    keys = {payload: key for name, payload, key in first if name == "child"}
    assert all(keys[payload] == key for name, payload, key in again if name == "child"), "what failed keeps its key"
    assert again[-1][:2] == ("join", {"all": [0, 1, 2, 3, 4]})
    assert (await states(ctx, run_id))[0] == "SUCCESS"


async def test_a_mapped_step_begins_anew_when_a_step_before_it_runs_again(ctx, store):
    await a_graph(ctx, mapped())
    run_id = await begin(ctx)
    async with draining(store) as drain:
        first = await work_off(ctx, drain, extract([1, 2, 3], lambda n: FAILED if n == 2 else n))
        await runs.change_step(ctx, run_id, "extract", StepAction.RETRY)
        again = await work_off(ctx, drain, extract([8, 9], lambda n: n))
    assert sorted(payload for name, payload, _ in again if name == "child") == [8, 9]
    assert not {key for *_, key in first} & {key for name, _, key in again if name == "child"}
    assert again[-1][1] == {"all": [8, 9]}
    assert (await states(ctx, run_id))[0] == "SUCCESS"


async def test_results_of_children_that_are_too_large_together_fail_the_step_that_takes_them(ctx, store):
    await a_graph(ctx, mapped())
    run_id = await begin(ctx)
    async with draining(store) as drain:
        await work_off(ctx, drain, extract([1, 2, 3], lambda _: "x" * 30_000))
    assert (await states(ctx, run_id))[1]["join"] == "DEAD"
    assert "more than 65536 bytes" in await reason_of(ctx, run_id, "join")


async def test_a_cancelled_run_cancels_its_children(ctx, store):
    await a_graph(ctx, mapped(concurrency=3))
    run_id = await begin(ctx)
    async with draining(store) as drain:
        await drain()
        await work_off_one(ctx, drain)
        await interventions.cancel(ctx, run_id)
        for _ in range(3):
            await drain()
    assert await states(ctx, run_id) == ("CANCELLED", {"extract": "SUCCESS", "child": "CANCELLED", "join": "CANCELLED"})
    assert {row.state for row in await runs.children_of(ctx, run_id, "child")} == {"CANCELLED"}
    assert not await query(store, "select id from instance_live")


async def work_off_one(ctx, drain):
    """Let the first step return its list."""
    calls = []

    def handle(name, _):
        calls.append(name)
        return {"items": list(range(8))}

    class Enough(Exception):
        pass

    async def once():
        if calls:
            await drain()
            raise Enough
        await drain()

    with pytest.raises(Enough):
        await work_off(ctx, once, handle)


async def fan_out(ctx, store, many):
    """Release and join `many` children; returns the seconds up to the release of all, and the states."""
    await a_graph(
        ctx,
        [
            step(NOWHERE, "extract"),
            step(NOWHERE, "child", "extract", each={"$result": "extract"}, tolerated_failures=0.1),
            step(NOWHERE, "join", "child", payload={"all": {"$result": "child"}}),
        ],
    )
    run_id = await begin(ctx)
    [cell] = [cell for cell in store.cells if await query(cell, "select id from instance_live")]
    definitions = Definitions(store.cipher)
    settler = Settler(cell, cipher=store.cipher)
    runner = GraphRunner(cell, Territory(store.shards_of(cell)), definitions, settler, lambda _timer: None)

    async def finish(result=None):
        done = await claim(cell, store, 2000)
        known = await definitions.load_from(cell, {(ran.shard, ran.job_id, ran.job_version) for ran in done})
        await settler.settle(
            [
                AttemptOutcome(ran, known[ran.job_id, ran.job_version], Success(), result=ClearResult(result))
                for ran in done
            ]
        )
        return len(done)

    await runner.run_all()
    assert await finish([0] * many) == 1
    began = perf_counter()
    while (await query(cell, "select count(*) as n from instance_live where state = 'INIT'"))[0]["n"] < many:
        assert await runner.once()
    took = perf_counter() - began
    while await finish(1):
        while await runner.once():
            pass
        await runner.run_all()
    assert (await states(ctx, run_id))[0] == "SUCCESS"
    return took, Counter(row["state"] for row in await query(cell, "select state from graph_child"))


async def test_a_thousand_children_are_released_and_joined(ctx, store):
    _, found = await fan_out(ctx, store, 1000)
    assert found == {"SUCCESS": 1000}


@pytest.mark.long
async def test_ten_thousand_children_are_released_and_joined(ctx, store):
    took, found = await fan_out(ctx, store, 10_000)
    assert found == {"SUCCESS": 10_000}
    assert took < 5
