"""What graphs cost: as many statements for many runs as for one, and a wide fan-out in one of them."""

from datetime import timedelta

import pytest

from horae.domain.instances.outcomes import Success
from horae.engine import graphs
from horae.engine.graphs import GraphRunner
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.repositories.reports import ClearResult
from horae.repositories.settle import AttemptOutcome, Settler
from horae.service.graphs import runs
from tests.engine.graphs import a_graph, begin, states, step
from tests.nodes import node_in
from tests.steps import claim, until

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def no_looks(monkeypatch):
    """A slow machine must not add a look for unrecorded ends to the rounds that are counted."""
    monkeypatch.setattr(graphs, "LOOK_INTERVAL_S", 3600.0)


async def finish(store, cell, definitions, settler, result=None):
    """Let everything that is released succeed, in one batch; returns how many steps that was."""
    done = await claim(cell, store, 2000)
    wanted = {(ran.shard, ran.job_id, ran.job_version) for ran in done}
    known = await definitions.load_from(cell, wanted)
    returned = None if result is None else ClearResult(result)
    await settler.settle(
        [AttemptOutcome(ran, known[ran.job_id, ran.job_version], Success(), result=returned) for ran in done]
    )
    return len(done)


async def statements_per_round(ctx, store, sent, job, many, result=None):
    """Statements from one end of steps to the next, and how many steps ended."""
    cell = store.cell(job.shard)
    definitions, settler = Definitions(store.cipher), Settler(cell, cipher=store.cipher)
    for number in range(many):
        await begin(ctx, job.name, f"k{number}")
    territory = Territory(store.shards_of(cell))
    runner = GraphRunner(cell, territory, definitions, settler, lambda _timer: None)
    counts, steps = [], 0
    while True:
        sent.clear()
        await runner.run_all()
        while await runner.once():
            pass
        counts.append(sent["statements"])
        if not (done := await finish(store, cell, definitions, settler, result)):
            return counts, steps
        steps += done


@pytest.mark.usefixtures("no_looks")
async def test_a_round_has_as_many_statements_for_many_runs_as_for_one(ctx, store, sent):
    few = await a_graph(ctx, chain(), "few")
    many = await a_graph(ctx, chain(), "many")
    one, one_steps = await statements_per_round(ctx, store, sent, few, 1)
    twenty, twenty_steps = await statements_per_round(ctx, store, sent, many, 20)
    assert (one_steps, twenty_steps) == (4, 80)
    assert twenty == one, "flat"


@pytest.mark.usefixtures("no_looks")
async def test_parameters_and_children_of_many_runs_take_as_many_statements_as_those_of_one(ctx, store, sent):
    few = await a_graph(ctx, mapped_chain(), "few")
    many = await a_graph(ctx, mapped_chain(), "many")
    one, one_steps = await statements_per_round(ctx, store, sent, few, 1, result=[1, 2, 3])
    twenty, twenty_steps = await statements_per_round(ctx, store, sent, many, 20, result=[1, 2, 3])
    assert (one_steps, twenty_steps) == (5, 100)
    assert twenty == one, "flat"


async def test_a_fan_out_is_released_by_one_round_and_joined(ctx, store, sent):
    children = [f"child{number}" for number in range(100)]
    others = [f"other{number}" for number in range(800)]
    steps = [step(NOWHERE, "root"), *(step(NOWHERE, name, "root") for name in children + others)]
    job = await a_graph(ctx, [*steps, step(NOWHERE, "join", *children)])
    cell = store.cell(job.shard)
    definitions, settler = Definitions(store.cipher), Settler(cell)
    runner = GraphRunner(cell, Territory(store.shards_of(cell)), definitions, settler, lambda _timer: None)
    run_id = await begin(ctx)
    await runner.run_all()
    assert await finish(store, cell, definitions, settler) == 1
    sent.clear()
    await runner.run_all()
    assert sent["statements"] <= 12
    assert await finish(store, cell, definitions, settler) == 900
    await runner.run_all()
    assert await finish(store, cell, definitions, settler) == 1
    await runner.run_all()
    assert (await states(ctx, run_id))[0] == "SUCCESS"


async def test_a_running_node_goes_from_step_to_step_by_itself(ctx, store, catcher):
    names = [f"s{number}" for number in range(10)]
    steps = [step(catcher.url, name, *names[number - 1 : number]) for number, name in enumerate(names)]
    await a_graph(ctx, steps)
    node = node_in(store, "n", timedelta(seconds=30))
    await node.start()
    try:
        run_id = await begin(ctx)

        async def is_over():
            found = await runs.listing(ctx, "graph")
            return bool(found) and found[0].state == "SUCCESS"

        await until(is_over, 60)
    finally:
        await node.stop(1)
    assert [arrival.path.strip("/") for arrival in catcher.arrivals] == names
    assert (await states(ctx, run_id))[0] == "SUCCESS"


def mapped_chain():
    taken = {"$result": "a"}
    return [step(NOWHERE, "a"), step(NOWHERE, "b", "a", each=taken), step(NOWHERE, "c", "b", payload={"a": taken})]


def chain():
    return [step(NOWHERE, "a"), step(NOWHERE, "b", "a"), step(NOWHERE, "c", "a"), step(NOWHERE, "d", "b", "c")]
