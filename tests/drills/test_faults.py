"""Outages of targets and of a cell, caused by drills in the process of the test, with a node beside them."""

import os

import asyncpg
import pytest

from horae.boot.drills.faults import CellLoss, OutageOfTargets
from horae.boot.drills.processes import postmaster
from horae.boot.drills.runner import DrillPlan, run_drill
from horae.domain.drills.drills import DrillKind
from horae.runtime.settings import CellSettings
from horae.service.context import PlatformContext
from horae.service.drills import history
from horae.store import migrations
from horae.store.store import Store
from tests.cluster import SETTINGS, running_server
from tests.engine.running import running
from tests.keyring import sealed
from tests.memory import quick_folder

own_server = pytest.mark.skipif("HORAE_TEST_DSN" in os.environ, reason="a server of others is not ours to freeze")


def plan(kind, **facts):
    given = {"fires_per_s": 8, "hold_s": 6.0, "limit_s": 200.0, "rto_target_s": 120.0, "rpo_target_s": 1.0}
    told = {"environment": "staging", "deployment": "", "reason": "a try", "settle_s": 0.0}
    return DrillPlan(kind=kind, name="try", **(given | told | facts))


@pytest.mark.timeout(240)
async def test_an_outage_of_all_targets_is_survived_and_recorded(store, tmp_path):
    ctx = PlatformContext(store, "test")
    async with running(store):
        asked = plan(DrillKind.OUTAGE_OF_TARGETS)
        result, seconds = await run_drill(ctx, asked, OutageOfTargets, tmp_path / "log")
    assert result.faults == ()
    assert result.rto_s is not None
    assert result.rpo_s == 0.0
    assert result.late > 0, "what failed was tried again"
    assert 0 in [one.effects for one in seconds[6:]], "nothing took effect during the outage"
    await history.record_ended(ctx, "try", result, "digest")
    [past] = await history.page(ctx, None, 10)
    assert (past.result.kind, past.result.rto_s, past.report_sha256) == (result.kind, result.rto_s, "digest")


@own_server
@pytest.mark.long
@pytest.mark.timeout(300)
async def test_a_frozen_cell_comes_back_without_loss(cluster, tmp_path, record_property):
    other = await cluster.make_empty()
    with quick_folder("horae-drill-cell") as folder, running_server(folder, SETTINGS) as port:
        server = f"postgresql://postgres@127.0.0.1:{port}"
        connection = await asyncpg.connect(f"{server}/postgres")
        await connection.execute("create database horae")
        await connection.close()
        cells = [
            CellSettings(name="cell-0", dsn=f"{server}/horae"),
            CellSettings(name="cell-1", dsn=cluster.dsn(other)),
        ]
        await migrations.migrate(cells, "staging")
        async with Store.of(cells) as own:
            store = sealed(own)
            ctx = PlatformContext(store, "test")

            def make(_receiver):
                return CellLoss(ctx, "cell-0", postmaster(folder / "data"))

            async with running(store):
                asked = plan(DrillKind.CELL_LOSS, hold_s=20.0)
                result, _seconds = await run_drill(ctx, asked, make, tmp_path / "log")
    await cluster.drop([other])
    assert result.faults == ()
    assert result.rpo_s == 0.0
    assert result.late > 0
    record_property("rto_s", result.rto_s)
