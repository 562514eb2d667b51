"""Recovery from P1 and P2 with real nodes: nobody does anything after the start, and nothing is lost."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from horae.domain.fire_audit.comparison import GRACE
from horae.domain.incidents.incidents import STEPS, IncidentGrade, IncidentResult, RecoveryStep
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.loop import Loop
from horae.service.context import PlatformContext
from horae.service.incidents import incidents
from horae.store.connections import primary
from horae.store.store import Store
from horae.upkeep.measures import MeasureReader
from horae.upkeep.recovery import RecoveryExecutor
from tests.catcher import catching
from tests.engine.fleet import every_fire_has_one_row, steady
from tests.engine.running import running
from tests.keyring import sealed
from tests.steps import move_clock, query, until
from tests.system.failover.standby import standby_of
from tests.system.failover.trial import trying, write
from tests.system.processes import node_processes
from tests.system.recovery.loads import critical_jobs, first_critical_after, p95_late_s, retry_storm
from tests.system.recovery.trial import begin, recover_once
from tests.system.test_failover import LOST, can_try, own_server

REPORT = Path(__file__).parents[2] / "docs" / "proof" / "recovery.json"
LONG = 60
RTO_S = 60.0
P95_S = 2.0
BACK_S = 300.0
FIRES_PER_S = 500
RUNS = 20
JOBS, CRITICAL_JOBS = 20, 10
LEASE_TTL_S = 2.0
PAUSE_S = 0.2


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """What a test learns of timelines is forgotten after it: other tests go on with the first one."""
    monkeypatch.setattr(primary, "_newest", {})


@pytest.fixture
async def catcher(store):
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher


async def shown(store, id_):
    return await incidents.show(PlatformContext(store, "operator"), id_)


async def start_when_possible(store, fault):
    """As `horae recover start` does: try again while the cell does not answer."""
    while True:
        with suppress(*LOST):
            return await incidents.start(PlatformContext(store, "operator"), IncidentGrade.P1, "lost", fault)


async def has_passed(store, id_, step):
    return STEPS.index((await shown(store, id_)).incident.step) > STEPS.index(step)


@own_server
@pytest.mark.timeout(240)
async def test_p1_the_primary_and_the_recovering_node_are_lost_and_critical_work_fires_again(
    ctx, store, cells, catcher, tmp_path
):
    """The node that works on the incident is killed: the other one goes on with it."""
    async with standby_of(cells) as standby, Store.of(standby.cells) as own:
        sealed(own)
        with node_processes(2, tmp_path, standby.cells, LEASE_TTL_S, ctx.tenant.name) as nodes:
            await steady(ctx, own, catcher, JOBS)
            await critical_jobs(ctx, own, catcher, CRITICAL_JOBS)
            for node in nodes:
                await node.ready(LONG)
            await until(lambda: len(catcher.of("/critical")) > CRITICAL_JOBS, LONG)
            await standby.promote()
            fault = own.cells[0].clock.now()
            nodes[0].kill()
            started = await start_when_possible(own, fault)
            await until(lambda: has_passed(own, started.id, RecoveryStep.CATCH_UP), RTO_S)
            first = first_critical_after(catcher, fault)
            assert first is not None
            late = fault + timedelta(seconds=10)
            await until(lambda: sum(one.fire_time > late for one in catcher.arrivals) > JOBS, LONG)
        done = await _complete_alone(own, started.id)
        assert (done.incident.result, done.summary.findings) == (IncidentResult.RECOVERY_COMPLETED, 0)
        assert done.summary.rto_s is not None
        assert done.summary.rto_s <= RTO_S
        assert done.summary.rpo_s is None, "nothing says that commits of the new primary wait for a standby"
        assert await every_fire_has_one_row(own, JOBS + CRITICAL_JOBS) > JOBS


async def _complete_alone(store, id_):
    """Without a node: go on to the time at which the last fires can be judged, and do what is left."""
    ends = {one.step: one.at for one in (await shown(store, id_)).timeline if not one.part}
    ahead = ends[RecoveryStep.CATCH_UP] + GRACE - store.cells[0].clock.now()
    await move_clock(store, seconds=ahead.total_seconds() + 0.1)
    await query(store, "update incident set lease_until = started_at")
    executor = RecoveryExecutor(store, uuid4())
    while (await shown(store, id_)).incident.ended_at is None:
        await executor.once()
    return await shown(store, id_)


@asynccontextmanager
async def recovering(store, node) -> AsyncIterator[None]:
    """The duties of a node that recovery needs."""
    duties = (RecoveryExecutor(store, node.identity.incarnation), MeasureReader(store, node.follow_measures))
    going = [asyncio.create_task(Loop(type(duty).__name__.lower(), duty, PAUSE_S).run()) for duty in duties]
    try:
        yield
    finally:
        await cancel_and_wait(*going)


@pytest.mark.parametrize(
    "waiting", [2000, pytest.param(300_000, marks=[pytest.mark.long, pytest.mark.timeout(1800)])], ids=["some", "many"]
)
async def test_p2_a_storm_of_retries_is_over_and_fires_are_on_time_again(ctx, store, catcher, waiting, record_property):
    await retry_storm(ctx, store, catcher, waiting)
    await steady(ctx, store, catcher, JOBS)
    await critical_jobs(ctx, store, catcher, CRITICAL_JOBS)
    began = store.cells[0].clock.now()
    async with running(store) as node, recovering(store, node):
        started = await incidents.start(PlatformContext(store, "operator"), IncidentGrade.P2, "retries pile up")
        await until(lambda: has_passed(store, started.id, RecoveryStep.CATCH_UP), BACK_S)
        back = store.cells[0].clock.now()
        window = timedelta(seconds=10 if waiting > 10_000 else 3)
        await until(lambda: store.cells[0].clock.now() > back + window + timedelta(seconds=1), LONG)
        p95 = p95_late_s(catcher, back, back + window)
    assert p95 is not None
    assert p95 < P95_S
    assert (back - began).total_seconds() <= BACK_S
    found = (await shown(store, started.id)).summary
    left = len(await query(store, "select from instance_live where lane = 1"))
    assert len(await query(store, "select from measure where name = 'incident' and override is not null")) > 0
    record_property("waiting", waiting)
    record_property("back_after_s", round((back - began).total_seconds(), 1))
    record_property("p95_s", round(p95, 3))
    if waiting > 10_000:
        facts = {"grade": "P2", "waiting": waiting, "left": left, "rto_s": found.rto_s, "p95_s": round(p95, 3)}
        write(REPORT, {**facts, "back_after_s": round((back - began).total_seconds(), 1), **stamp()})


@can_try
@pytest.mark.long
@pytest.mark.timeout(4 * 3600)
async def test_p1_at_a_patroni_cluster_nothing_is_lost_and_critical_work_fires_within_a_minute(record_property):
    runs = int(os.environ.get("HORAE_TEST_RECOVERIES", RUNS))
    async with trying(FIRES_PER_S) as (trial, catcher):
        await begin(trial, catcher)
        for _ in range(runs):
            run = await recover_once(trial, catcher)
            write(REPORT, {"grade": "P1", **run, **stamp()})
            assert run["result"] == IncidentResult.RECOVERY_COMPLETED, json.dumps(run)
            assert (run["lost"], run["doubled"], run["missed"], run["delivered_without_record"]) == (0, 0, 0, 0)
            assert (run["findings"], run["rpo_s"]) == (0, 0.0)
            assert run["critical_after_s"] <= RTO_S
            assert run["rto_s"] <= RTO_S
    record_property("runs", runs)


def stamp():
    """When a run was made, and on which commit."""
    commit = subprocess.run(["git", "log", "-1", "--format=%h"], capture_output=True, text=True, check=True)
    return {"commit": commit.stdout.strip(), "at": datetime.now(UTC).isoformat(timespec="seconds")}
