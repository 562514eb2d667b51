"""Shards move between clusters under load, and whatever is killed at whichever step: nothing is lost or doubled."""

import os
import random

import pytest

from horae.domain.moves.moves import ABORTABLE, MoveStep
from horae.runtime.settings import CellSettings
from horae.service.context import Context, PlatformContext
from horae.service.tenants import tenants
from horae.store import migrations
from horae.store.store import Store
from tests.catcher import catching
from tests.engine.rescheduling import TYPE
from tests.keyring import sealed
from tests.steps import a_type, query
from tests.system.failover.trial import write
from tests.system.moves import report
from tests.system.moves.load import make_jobs
from tests.system.moves.stage import NO_FAULT, MoveFault, MoveStage, clusters
from tests.system.test_failover import stamp

STEPS = [str(step) for step in MoveStep if step in ABORTABLE | {MoveStep.DELETE}]
CELLS = 4
SHARDS = 64
JOBS = int(os.environ.get("HORAE_TEST_MOVE_JOBS", "200000"))
FIRES_PER_S = int(os.environ.get("HORAE_TEST_MOVE_FIRES_PER_S", "500"))
ROUNDS = int(os.environ.get("HORAE_TEST_MOVE_ROUNDS", "5"))
MAX_PAUSE_P95_MS = 1000
CHOSEN = "select distinct shard_id from job_cursor union select distinct shard_id from task_key"


def check(run):
    for nothing in report.NOTHING:
        assert run[nothing] == 0, nothing
    assert {one["end"] for one in run["moves"]} == {"DONE"}


async def test_a_shard_moves_on_after_the_kill_of_its_coordinator_and_fires_are_complete(ctx, store, cells, tmp_path):
    await a_type(ctx, TYPE)
    async with catching(store.cells[0].clock.now) as catcher:
        stage = MoveStage(tmp_path, ctx, store, cells, nodes=1)
        try:
            jobs = await make_jobs(ctx, store, catcher, 40, 20)
            await stage.start()
            shards = [row["shard_id"] for row in await query(store, CHOSEN)]
            plan = [(shards[0], MoveFault("coordinator", "CATCH_UP")), (shards[1], MoveFault(NO_FAULT))]
            check(await stage.round(jobs, catcher, plan))
        finally:
            stage.close()


@pytest.mark.long
@pytest.mark.timeout(7200)
async def test_four_clusters_move_64_shards_while_coordinators_and_clusters_are_killed_at_each_step(
    tmp_path, record_property
):
    """Rounds: 64 moves without a fault; then a coordinator and a cluster killed at each step, five times.

    A test that was stopped goes on with the rounds that its commit has not made.
    """
    made = stamp()
    async with clusters(CELLS) as servers:
        cells = [CellSettings(name=server.name, dsn=server.dsn) for server in servers]
        await migrations.migrate(cells, "test")
        async with Store.of(cells) as store, catching(store.cells[0].clock.now) as catcher:
            tenant = await tenants.create(PlatformContext(store, "test"), "acme", width=4096)
            ctx = Context.of(sealed(store), tenant, "test")
            await a_type(ctx, TYPE)
            stage = MoveStage(tmp_path, ctx, store, cells)
            stage.servers = servers
            try:
                jobs = await make_jobs(ctx, store, catcher, JOBS, FIRES_PER_S)
                await stage.start()
                shards = random.Random(23).sample([row["shard_id"] for row in await query(store, CHOSEN)], SHARDS)
                for number in sorted({*range(ROUNDS + 1)} - report.rounds_of(made["commit"], JOBS)):
                    stage.zombie = number > 0
                    run = await stage.round(jobs, catcher, plan_of(number, shards))
                    write(report.REPORT, {"round": number, **run, **made})
                    check(run)
            finally:
                stage.close()
    pause_p95_ms = report.undisturbed_pause_ms(made["commit"], JOBS, 0.95)
    record_property("pause_p95_ms", pause_p95_ms)
    record_property("rounds", ROUNDS)
    assert pause_p95_ms <= MAX_PAUSE_P95_MS


def plan_of(number, shards):
    """The moves of a round, each with its fault."""
    if number == 0:
        return [(shard, MoveFault(NO_FAULT)) for shard in shards]
    killed = [MoveFault("coordinator", step) for step in STEPS]
    killed += [MoveFault("source" if (number + place) % 2 else "target", step) for place, step in enumerate(STEPS)]
    chosen = random.Random(number).sample(shards, len(killed))
    return list(zip(chosen, killed, strict=True))


def test_the_page_is_that_of_the_report():
    assert report.PAGE.read_text() == report.page(), "run `python -m tests.system.moves.report`"
