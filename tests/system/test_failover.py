"""A cell loses its primary: nothing acknowledged is lost, nothing is recorded twice, and it fires again soon."""

import asyncio
import os
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from horae.domain.errors import Unavailable
from horae.service.context import Context
from horae.service.tasks import tasks
from horae.store.connections import primary
from horae.store.store import Store
from horae.store.tx import GONE
from horae.upkeep.doctor import Doctor
from tests.catcher import catching
from tests.engine.fleet import every_fire_has_one_row, steady
from tests.engine.running import running
from tests.keyring import sealed
from tests.steps import a_type, query, until
from tests.system.failover import report
from tests.system.failover.faults import FAULTS
from tests.system.failover.patroni import PATRONI
from tests.system.failover.standby import standby_of
from tests.system.failover.trial import trying, write
from tests.system.namespace import namespaces

own_server = pytest.mark.skipif("HORAE_TEST_DSN" in os.environ, reason="a server of others has no standby of ours")
can_try = pytest.mark.skipif(
    not (Path(PATRONI).exists() and namespaces()), reason="needs `tools/services failover`, root and namespaces"
)
LONG = 60
FIRES_PER_S = 300
RUNS = 10
BACK_S = 30.0
LOST = (*GONE, Unavailable)
KEYS = "select business_key from task_key"
RECORDED = "select idem_key from instance_live union all select idem_key from instance_history"


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """What a test learns of timelines is forgotten after it: other tests go on with the first one."""
    monkeypatch.setattr(primary, "_newest", {})


@pytest.fixture
async def catcher(store):
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher


class Author:
    """Schedules tasks one after another; `acknowledged` has those that were answered."""

    def __init__(self, ctx):
        self.ctx = ctx
        self.acknowledged = []

    async def write(self):
        number = 0
        while True:
            number += 1
            with suppress(*LOST):
                await tasks.schedule(self.ctx, "ARTICLE_PUBLISH", f"a-{number}", at=datetime(2100, 1, 1, tzinfo=UTC))
                self.acknowledged.append(f"a-{number}")
            await asyncio.sleep(0.02)


@own_server
@pytest.mark.timeout(240)
async def test_seed_002_example_9_after_a_switch_of_the_primary_it_fires_on_and_nothing_is_doubled(
    ctx, store, cells, catcher
):
    """The old primary is told nothing and goes on answering, as when its agent hangs."""
    jobs = 40
    await a_type(ctx)
    async with standby_of(cells) as standby, Store.of(standby.cells) as own:
        author = Author(Context.of(sealed(own), ctx.tenant, "author"))
        async with running(own):
            writing = asyncio.create_task(author.write())
            await steady(ctx, own, catcher, jobs)
            await until(lambda: len(catcher.arrivals) > 2 * jobs and len(author.acknowledged) > 0, LONG)
            await standby.promote()
            promoted, before = own.cells[0].clock.now(), len(author.acknowledged)
            await until(lambda: len({one.job for one in catcher.arrivals if one.fire_time > promoted}) == jobs, LONG)
            await until(lambda: len(author.acknowledged) > before + 10, LONG)
            writing.cancel()
            with suppress(asyncio.CancelledError):
                await writing
        assert await every_fire_has_one_row(own, jobs) >= 3 * jobs
        await (visits := Doctor(own)).once()
        assert "primaries" in visits.degraded["cell-0"], "a node says that two members take writes"
        known = {row["business_key"] for row in await query(own, KEYS)}
        assert set(author.acknowledged) <= known, "what was acknowledged is there"
        recorded = {str(row["idem_key"]) for row in await query(own, RECORDED)}
        assert {one.idempotency_key for one in catcher.arrivals} <= recorded, "what was sent is on record"


@can_try
@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_patroni_cluster_loses_nothing_and_fires_again_within_thirty_seconds(fault, record_property):
    async with trying(FIRES_PER_S) as (trial, catcher):
        for _ in range(RUNS):
            run = await trial.run(fault, catcher)
            write(report.REPORT, {**run, **stamp()})
            for nothing in report.NOTHING:
                assert run[nothing] == 0, nothing
            assert run["longest_pause_s"] <= BACK_S
    record_property("runs", RUNS)


def stamp():
    """When a run was made, and on which commit."""
    commit = subprocess.run(["git", "log", "-1", "--format=%h"], capture_output=True, text=True, check=True)
    return {"date": datetime.now(UTC).date().isoformat(), "commit": commit.stdout.strip()}


def test_the_page_is_that_of_the_report():
    assert report.PAGE.read_text() == report.page(), "run `python -m tests.system.failover.report`"
