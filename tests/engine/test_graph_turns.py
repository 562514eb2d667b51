"""A tenant with very many runs of graphs does not keep the runs of another tenant waiting."""

import pytest

from horae.engine.graphs import GraphRunner
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.repositories.settle import Settler
from horae.service.context import Context, PlatformContext
from horae.service.tenants import tenants
from tests.engine.graphs import a_graph, begin, step
from tests.steps import name_in, query

CROWD = 20_000
MAX_ROUNDS = 3
MULTIPLY = """
    insert into instance_live
    select made.*
    from instance_live l, generate_series(1, $2::int) n,
         lateral jsonb_populate_record(l, jsonb_build_object(
             'id', '00000000-0000-7000-8000-' || lpad(n::text, 12, '0'), 'idem_key', n::text,
             'due_at', l.due_at - interval '1 hour')) made
    where l.id = $1"""
"""Copies of a waiting run that come before every other one, by their times and by their ids."""
OPEN_ALL = """
    insert into graph_run
    select made.*
    from graph_run r, instance_live l,
         lateral jsonb_populate_record(r, jsonb_build_object(
             'shard_id', l.shard_id, 'id', l.id, 'tenant_id', l.tenant_id, 'job_id', l.job_id, 'stale', true)) made
    where r.id = $1 and l.queue = 'horae.graphs' and l.id <> r.id"""
"""Every waiting run is open, and a step of it has just ended."""
STEPS_OF_ALL = """
    insert into graph_step
    select made.*
    from graph_step s, graph_run r,
         lateral jsonb_populate_record(s, jsonb_build_object(
             'shard_id', r.shard_id, 'run_id', r.id, 'tenant_id', r.tenant_id, 'instance_id', null,
             'state', 'BLOCKED')) made
    where s.run_id = $1 and r.id <> s.run_id"""


async def a_run(ctx, name="graph"):
    """A graph of one step, and a run of it that waits to be started."""
    await a_graph(ctx, [step("http://127.0.0.1:9", "a")], name)
    return await begin(ctx, name)


async def crowd(ctx, cell):
    """Very many runs of another tenant in the same cell."""
    await query(cell, MULTIPLY, await a_run(ctx, name_in(ctx, cell, "graph")), CROWD)


async def rounds(runner):
    for _ in range(MAX_ROUNDS):
        await runner.run_all()


@pytest.fixture
async def other(store):
    return Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=1), "test")


@pytest.fixture
def runner(store, other):
    cell = store.cell(other.tenant.shard("graph"))
    settler = Settler(cell, cipher=store.cipher)
    return GraphRunner(cell, Territory(store.shards_of(cell)), Definitions(store.cipher), settler, lambda _timer: None)


async def test_a_run_starts_soon_beside_twenty_thousand_older_ones_of_another_tenant(ctx, other, runner):
    late = await a_run(other)
    await crowd(ctx, runner.cell)
    await rounds(runner)
    assert await query(runner.cell, "select from graph_run where id = $1", late)
    assert await query(runner.cell, "select from graph_run where tenant_id = $1", ctx.tenant.id), "these go on, too"


async def test_a_run_goes_on_soon_beside_twenty_thousand_of_another_tenant_that_go_on(ctx, other, runner):
    late = await a_run(other)
    await runner.run_all()
    await crowd(ctx, runner.cell)
    await query(runner.cell, OPEN_ALL, late)
    await query(runner.cell, STEPS_OF_ALL, late)
    await query(runner.cell, "update graph_run set stale = true where id = $1", late)
    await rounds(runner)
    [row] = await query(runner.cell, "select stale from graph_run where id = $1", late)
    assert not row["stale"]
    [row] = await query(runner.cell, "select count(*) as left from graph_run where stale")
    assert row["left"] < CROWD, "these go on, too"


async def test_a_run_whose_steps_are_gone_does_not_stop_those_of_others(ctx, other, runner, capsys):
    broken = await a_run(ctx, name_in(ctx, runner.cell, "graph"))
    await a_run(other)
    await runner.run_all()
    await query(runner.cell, "delete from graph_step where run_id = $1", broken)
    await query(runner.cell, "update graph_run set stale = true")
    await rounds(runner)
    left = await query(runner.cell, "select id from graph_run where stale")
    assert [row["id"] for row in left] == [broken], "it waits, and says so"
    assert "graph.undecidable" in capsys.readouterr().err
