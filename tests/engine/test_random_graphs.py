"""Random graphs, rules and outcomes on real rows, with nodes that die in the middle and others that take over.

The model decides by recursion what must become of each step. The nodes may not agree about who owns the shards, their
transactions may be cut off before the commit, and the end of a step may be recorded by nobody but a later look. Some
ends release their successors in their own transaction, others leave that to the next round.
"""

import random
from functools import partial

import pytest

from horae.domain.encryption.encrypted_values import payload_of
from horae.domain.graphs.graphs import NeedsRule, StepPlan, ordered
from horae.domain.graphs.runs import FAILED, StepState
from horae.domain.instances.outcomes import DeclinedCall, ErrorCode, Success, Unrecoverable
from horae.engine.graph_successors import SuccessorReleaser
from horae.engine.graphs import GraphRunner
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.repositories.reports import ClearResult
from horae.repositories.settle import AttemptOutcome, Settler
from horae.service.graphs import runs
from tests.domain.test_graphs import model
from tests.engine.graphs import a_graph, begin, states, step
from tests.steps import claim, query

NOWHERE = "http://127.0.0.1:9"
ENDS = {
    StepState.SUCCESS: Success(),
    StepState.DEAD: Unrecoverable(ErrorCode.HTTP_4XX, "no"),
    StepState.SKIPPED: DeclinedCall(),
}
GRAPHS = 8


class NodeKilled(Exception):
    """Stands for the death of a node before its commit."""


class Nodes:
    """Several nodes on one cell that all believe to own all shards, and die now and then."""

    def __init__(self, store, cell, dice):
        self.cell, self.dice, self.killed = cell, dice, 0
        self.definitions = Definitions(store.cipher)
        self.runners = [self._runner(store) for _ in range(3)]
        self.releaser = SuccessorReleaser(Territory(store.shards_of(cell)), self.definitions, frozenset)

    def _runner(self, store):
        settler = Settler(self.cell)
        territory = Territory(store.shards_of(self.cell))
        return GraphRunner(self.cell, territory, self.definitions, settler, lambda _timer: None)

    async def work(self, monkeypatch):
        """One round of some node; it may die before one of its commits."""
        runner, dies_after = self.dice.choice(self.runners), self.dice.randrange(8)
        await self._run_and_die(monkeypatch, dies_after, runner.run_all)

    async def settle(self, monkeypatch, outcomes, **facts):
        """Settle outcomes with or without releasing what follows; the node may die, and another one settles them."""
        recorder = self.dice.choice([None, self.releaser])
        settler = Settler(self.cell, recorder=recorder, **facts)
        if self.dice.random() < 0.2:
            await self._run_and_die(monkeypatch, 0, partial(settler.settle, outcomes))
        await settler.settle(outcomes)

    async def _run_and_die(self, monkeypatch, dies_after, work_of_node):
        """Let a node work until its next commit after so many."""
        commits = 0

        async def run(work):
            nonlocal commits
            commits += 1

            async def cut_off(tx):
                result = await work(tx)
                if commits > dies_after:
                    raise NodeKilled
                return result

            return await type(self.cell).run(self.cell, cut_off)

        with monkeypatch.context() as patch:
            patch.setattr(self.cell, "run", run, raising=False)
            try:
                await work_of_node()
            except NodeKilled:
                self.killed += 1


def a_random_graph(dice):
    names = [f"s{number}" for number in range(dice.randint(1, 9))]
    plans = []
    for number, name in enumerate(names):
        needs = tuple(dice.sample(names[:number], min(number, dice.randint(0, 3))))
        plans.append(StepPlan(name, needs, dice.choice(list(NeedsRule)) if needs else NeedsRule.ALL_SUCCESS))
    dice.shuffle(plans)
    return plans


@pytest.mark.parametrize("seed", range(3))
async def test_random_graphs_end_as_the_model_says_whoever_dies(ctx, store, monkeypatch, seed):
    dice = random.Random(seed)
    plans = [a_random_graph(dice) for _ in range(GRAPHS)]
    ends = [{plan.name: dice.choice(list(ENDS)) for plan in graph} for graph in plans]
    for number, graph in enumerate(plans):
        await a_graph(ctx, [step(NOWHERE, plan.name, *plan.needs, rule=plan.rule) for plan in graph], f"g{number}")
    ids = [await begin(ctx, f"g{number}") for number in range(GRAPHS)]
    nodes = [Nodes(store, cell, dice) for cell in store.cells]
    ran = await run_all(ctx, store, nodes, ends, monkeypatch)
    for number, (graph, id_) in enumerate(zip(plans, ids, strict=True)):
        expected = model(graph, ends[number])
        state, found = await states(ctx, id_)
        assert found == expected
        failed = FAILED & set(expected.values())
        is_blocked = StepState.BLOCKED in expected.values()
        assert state == ("OPEN" if is_blocked else "DEAD" if failed else "SUCCESS")
        called = {name for one, name in ran if one == number}
        assert called == {name for name, ended in expected.items() if ended in ENDS and _runs(graph, expected, name)}
    assert len(ran) == len(set(ran)), "no step was released twice"
    assert sum(node.killed for node in nodes), "nodes died"


def _runs(graph, expected, name):
    """Whether a step was called: by its rule, not by its end, since a skipped one may have been called and declined."""
    [plan] = [plan for plan in ordered(graph) if plan.name == name]
    parents = {expected[need] for need in plan.needs}
    bad = parents & {*FAILED, StepState.BLOCKED}
    match plan.rule:
        case NeedsRule.ALL_SUCCESS:
            return not parents - {StepState.SUCCESS}
        case NeedsRule.ANY_FAILED:
            return bool(bad)
        case NeedsRule.NONE_FAILED:
            return not bad
        case _:
            return True


async def run_all(ctx, store, nodes, ends, monkeypatch):
    """Let nodes work and steps end, in random order, until nothing is left; returns which steps were called."""
    ran, quiet, waiting = [], 0, []
    while quiet < 4:
        for node in nodes:
            for _ in range(3):
                await node.work(monkeypatch)
            for runner in node.runners:
                await runner.run_all()
            waiting += await claim(node.cell, store)
        node = nodes[0]
        names = {row["id"]: row["name"] for row in await query(store, "select id, name from job")}
        node.dice.shuffle(waiting)
        many = node.dice.randint(1, 5)
        some, waiting = waiting[:many], waiting[many:]
        quiet = 0 if some or waiting else quiet + 1
        for one in some:
            graph, name = names[one.job_id].split("/")
            ran.append((int(graph[1:]), name))
            cell = store.cell(one.shard)
            known = await Definitions(store.cipher).load_from(cell, {(one.shard, one.job_id, one.job_version)})
            job = known[one.job_id, one.job_version] if node.dice.random() < 0.5 else None  # None: only a look finds it
            outcome = ENDS[ends[int(graph[1:])][name]]
            [its_node] = [node for node in nodes if node.cell is cell]
            await its_node.settle(monkeypatch, [AttemptOutcome(one, job, outcome)])
    assert await runs.listing(ctx, "g0")
    return ran


CHILDREN = 40


@pytest.mark.parametrize("seed", range(3))
async def test_random_children_end_as_the_model_says_whoever_dies(ctx, store, monkeypatch, seed):
    """Mapped steps over random lists: each child is released at most once, and none is lost by a killed node."""
    dice = random.Random(seed)
    lists = [[dice.choice(list(ENDS)) for _ in range(dice.randint(0, CHILDREN))] for _ in range(GRAPHS)]
    tolerated = [dice.choice([0.0, 0.2, 0.5, 1.0]) for _ in range(GRAPHS)]
    for number in range(GRAPHS):
        await a_graph(
            ctx,
            [
                step(NOWHERE, "list"),
                step(
                    NOWHERE,
                    "child",
                    "list",
                    each={"$result": "list", "path": "of"},
                    concurrency=dice.choice([None, 1, 7]),
                    tolerated_failures=tolerated[number],
                    payload={"end": {"$item": True}, "n": {"$result": "list", "path": "n"}},
                ),
                step(NOWHERE, "join", "child"),
            ],
            f"g{number}",
        )
    ids = [await begin(ctx, f"g{number}") for number in range(GRAPHS)]
    nodes = [Nodes(store, cell, dice) for cell in store.cells]
    ran = await run_lists(store, nodes, lists, monkeypatch)
    assert len(ran) == len(set(ran)), "no child was released twice"
    assert sum(node.killed for node in nodes), "nodes died"
    for number, (items, id_) in enumerate(zip(lists, ids, strict=True)):
        state, found = await states(ctx, id_)
        failed = items.count(StepState.DEAD)
        ends = [one.state for one in await runs.children_of(ctx, id_, "child")]
        called = sum(graph == number and name == "child" for graph, name, _ in ran)
        if failed <= tolerated[number] * len(items):
            assert (state, found["child"], found["join"]) == ("SUCCESS", "SUCCESS", "SUCCESS")
            assert (ends, called) == (items, len(items))
        else:
            assert (state, found["child"], found["join"]) == ("OPEN", "DEAD", "BLOCKED")
            assert all(end in {items[place], StepState.WAITING} for place, end in enumerate(ends))
            assert ends.count(StepState.DEAD) > tolerated[number] * len(items)
            assert called == len(items) - ends.count(StepState.WAITING)


async def run_lists(store, nodes, lists, monkeypatch):
    """Let nodes work and children end, in random order, until nothing is left; returns what was called."""
    ran, quiet, waiting = [], 0, []
    while quiet < 4:
        for node in nodes:
            for _ in range(2):
                await node.work(monkeypatch)
            await node.dice.choice(node.runners).run_all()
            waiting += await claim(node.cell, store)
        dice = nodes[0].dice
        names = {row["id"]: row["name"] for row in await query(store, "select id, name from job")}
        dice.shuffle(waiting)
        some, waiting = waiting[:60], waiting[60:]
        quiet = 0 if some or waiting else quiet + 1
        for cell in store.cells:
            ours = [one for one in some if store.cell(one.shard) is cell]
            found = await Definitions(store.cipher).load_from(
                cell, {(one.shard, one.job_id, one.job_version) for one in ours}
            )
            outcomes = []
            for one in ours:
                graph, name = names[one.job_id].split("/")
                items = lists[int(graph[1:])]
                place = int(one.idem_key.rsplit(":", 1)[1]) if name == "child" else 0
                if name == "child":
                    sent = store.cipher.decrypt_in_memory(
                        one.tenant_id, payload_of(one.job_id, one.idem_key), one.payload
                    )
                    assert sent == {"end": items[place], "n": len(items)}, "each child has its own element"
                ran.append((int(graph[1:]), name, place))
                how = ENDS[items[place]] if name == "child" else Success()
                result = ClearResult({"of": items, "n": len(items)}) if name == "list" else None
                job = found[one.job_id, one.job_version] if dice.random() < 0.7 else None  # None: a look finds it
                outcomes.append(AttemptOutcome(one, job, how, result=result))
            [its_node] = [node for node in nodes if node.cell is cell]
            await its_node.settle(monkeypatch, outcomes, cipher=store.cipher)
    return ran
