"""Successors of a step are released by the transaction that records its success, or left to the next round."""

import asyncio

from horae.domain.graphs.graphs import NeedsRule
from horae.domain.graphs.links import links_of
from horae.domain.instances.outcomes import DeclinedCall, ErrorCode, Success, Unrecoverable
from horae.engine.graph_successors import SuccessorReleaser
from horae.engine.graphs import GraphRunner
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.repositories.settle import AttemptOutcome, Settler
from horae.service.jobs import jobs
from tests.engine.graphs import a_graph, begin, states, step
from tests.engine.test_graph_costs import NOWHERE
from tests.steps import claim, query

FAILED = Unrecoverable(ErrorCode.HTTP_4XX, "no")
MOST_STATEMENTS = 4
"""Lock the runs, record the ends, release, mark: whatever the batch holds."""


class OneNode:
    """What a node does about the graphs of one cell, without its loops. `held`: tenants that are held back."""

    def __init__(self, store, cell):
        self.store, self.cell, self.held = store, cell, set()
        self.definitions, self.announced, self.undecided = Definitions(store.cipher), [], []
        territory = Territory(store.shards_of(cell))
        self.settler = Settler(
            cell,
            self.announced.append,
            step_ended=self.undecided.append,
            recorder=SuccessorReleaser(territory, self.definitions, lambda: self.held),
        )
        self.runner = GraphRunner(cell, territory, self.definitions, self.settler, self.announced.append)

    async def finish(self, ran, outcome=None):
        """End these attempts in one batch."""
        known = await self.definitions.load_from(self.cell, {(one.shard, one.job_id, one.job_version) for one in ran})
        await self.settler.settle(
            [AttemptOutcome(one, known[one.job_id, one.job_version], outcome or Success()) for one in ran]
        )

    async def live(self):
        """What may be called now, by the names of the steps."""
        ran = await claim(self.cell, self.store, 2000)
        names = {row["id"]: row["name"].split("/")[1] for row in await query(self.cell, STEP_NAMES)}
        return {names[one.job_id]: one for one in ran}

    async def stale(self):
        """How many runs wait for a decision."""
        return len(await query(self.cell, "select from graph_run where stale and ended_at is null"))


STEP_NAMES = "select id, name from job where name like '%/%'"


async def one_node(ctx, store, steps):
    job = await a_graph(ctx, steps)
    return OneNode(store, store.cell(job.shard)), await begin(ctx)


async def test_the_first_steps_are_released_by_the_transaction_that_starts_the_run(ctx, store):
    node, _ = await one_node(ctx, store, [step(NOWHERE, "a"), step(NOWHERE, "b"), step(NOWHERE, "c", "a", "b")])
    await node.runner._start()
    assert {timer.id for timer in node.announced} == {ran.id for ran in (await node.live()).values()}
    assert (len(node.announced), await node.stale()) == (2, 0)


async def test_a_success_releases_what_needs_it_in_its_own_transaction(ctx, store):
    node, run_id = await one_node(ctx, store, [step(NOWHERE, "a"), step(NOWHERE, "b", "a"), step(NOWHERE, "c", "b")])
    await node.runner.run_all()
    for name in "ab":
        node.announced.clear()
        await node.finish([(await node.live())[name]])
        [timer] = node.announced
        [row] = await query(node.cell, "select id, due_at from instance_live where state = 'INIT'")
        assert (timer.id, timer.at) == (row["id"], row["due_at"]), "it is claimed without a look"
        assert (node.undecided, await node.stale()) == ([], 0)
    await node.finish([(await node.live())["c"]])
    assert len(node.undecided) == 1, "the last step may end the run: a round decides"
    await node.runner.run_all()
    assert (await states(ctx, run_id))[0] == "SUCCESS"


async def test_two_needs_that_succeed_at_the_same_time_release_their_join_once(ctx, store, monkeypatch):
    node, _ = await one_node(ctx, store, [step(NOWHERE, "a"), step(NOWHERE, "b"), step(NOWHERE, "c", "a", "b")])
    await node.runner.run_all()
    live = await node.live()
    recorded, may_commit = asyncio.Event(), asyncio.Event()
    record = node.settler.recorder.record

    async def slow(tx, *ends):
        found = await record(tx, *ends)
        recorded.set()
        await may_commit.wait()
        return found

    monkeypatch.setattr(node.settler.recorder, "record", slow)
    first = asyncio.create_task(node.finish([live["a"]]))
    await recorded.wait()
    monkeypatch.undo()
    second = asyncio.create_task(node.finish([live["b"]]))
    while not await query(node.cell, WAITS_FOR_LOCK):  # the second one waits for the run
        await asyncio.sleep(0.01)
    may_commit.set()
    await asyncio.gather(first, second)
    assert list(await node.live()) == ["c"]


WAITS_FOR_LOCK = """
select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
"""


async def test_a_failure_and_a_declined_call_are_left_to_the_next_round(ctx, store):
    for number, outcome in enumerate((FAILED, DeclinedCall())):
        steps = [step(NOWHERE, "a"), step(NOWHERE, "b", "a"), step(NOWHERE, "c", "a", rule=NeedsRule.ALL_DONE)]
        job = await a_graph(ctx, steps, f"graph{number}")
        run_id = await begin(ctx, f"graph{number}")
        node = OneNode(store, store.cell(job.shard))
        await node.runner.run_all()
        await node.finish([(await node.live())["a"]], outcome)
        assert (len(node.undecided), await node.stale()) == (1, 1)
        await node.runner.run_all()
        assert list(await node.live()) == ["c"]
        found = (await states(ctx, run_id))[1]
        assert found == {"a": "DEAD" if outcome is FAILED else "SKIPPED", "b": found["b"], "c": "RELEASED"}
        assert found["b"] == ("BLOCKED" if outcome is FAILED else "SKIPPED")


async def test_a_step_that_takes_values_or_has_a_list_is_left_to_the_next_round(ctx, store):
    steps = [
        step(NOWHERE, "a"),
        step(NOWHERE, "b", "a", payload={"at": {"$run": "fire_time"}}),
        step(NOWHERE, "c", "a"),
    ]
    node, _ = await one_node(ctx, store, steps)
    await node.runner.run_all()
    await node.finish([(await node.live())["a"]])
    assert list(await node.live()) == ["c"], "the plain one is released at once"
    assert await node.stale() == 1
    await node.runner.run_all()
    assert list(await node.live()) == ["b"]


async def test_a_paused_graph_and_a_held_tenant_release_nothing(ctx, store):
    for number, pause in enumerate((True, False)):
        name = f"graph{number}"
        job = await a_graph(ctx, [step(NOWHERE, "a"), step(NOWHERE, "b", "a")], name)
        await begin(ctx, name)
        node = OneNode(store, store.cell(job.shard))
        await node.runner.run_all()
        ran = (await node.live())["a"]
        if pause:
            await jobs.pause(ctx, name)
        else:
            node.held.add(ctx.tenant.id)
        await node.finish([ran])
        assert (await node.live(), await node.stale()) == ({}, 1)
        if pause:
            await jobs.resume(ctx, name)
        await node.runner.run_all()
        assert list(await node.live()) == ["b"]


async def test_a_batch_of_many_runs_has_as_many_statements_as_one_of_one(ctx, store, sent):
    steps = [step(NOWHERE, "a"), step(NOWHERE, "b", "a"), step(NOWHERE, "c", "a"), step(NOWHERE, "d", "b", "c")]
    job = await a_graph(ctx, steps)
    node = OneNode(store, store.cell(job.shard))
    counts = []
    for many in (1, 20):
        for number in range(many):
            await begin(ctx, key=f"{many}-{number}")
        await node.runner.run_all()
        of_batches = []
        while ran := await claim(node.cell, store, 2000):
            known = {(one.shard, one.job_id, one.job_version) for one in ran}
            await node.definitions.load_from(node.cell, known)
            sent.clear()
            await node.finish(ran)
            of_batches.append(sent["statements"])
        counts.append(of_batches)
        await node.runner.run_all()
    assert counts[0] == counts[1], "flat"
    assert max(counts[0]) <= 1 + MOST_STATEMENTS, "one of them ends the instances"


async def test_an_end_reads_the_steps_around_it_and_not_the_whole_run(ctx, store):
    names = [f"s{number}" for number in range(100)]
    chain = [step(NOWHERE, name, *names[number - 1 : number]) for number, name in enumerate(names)]
    job = await a_graph(ctx, [*chain, step(NOWHERE, "join", "s10", "s20")])
    known = await Definitions(store.cipher).load_from(store.cell(job.shard), {(job.shard, job.id, job.version)})
    graph = known[job.id, job.version].definition.graph
    places = {one.name: place for place, one in enumerate(graph.steps)}
    links = links_of(graph)
    assert links.around([places["s10"]]) == {places[name] for name in ("s10", "s11", "s20", "join")}
    assert links.around([places["s99"]]) == set()


async def test_a_node_that_lost_the_shard_leaves_the_release_to_the_next_one(ctx, store):
    node, _ = await one_node(ctx, store, [step(NOWHERE, "a"), step(NOWHERE, "b", "a")])
    await node.runner.run_all()
    ran = (await node.live())["a"]
    node.settler.recorder.territory = Territory()
    await node.finish([ran])
    assert (await node.live(), await node.stale()) == ({}, 1)
