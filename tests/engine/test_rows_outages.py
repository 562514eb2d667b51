"""After an outage, of all nodes or of PostgreSQL: what was missed is made up for, what is due now is on time, and
nobody has to do anything (R-06, R-13, R-20).
"""

import asyncio
import os
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from signal import SIGCONT, SIGSTOP

import pytest
from benchmarks.stopped import processes_of, send_all

from horae.domain.jobs.jobs import Definition
from horae.domain.schedules import Misfire, OnMisfire, Policies
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.store.cells import Cell
from horae.store.store import Store
from tests.bulk import bulk_jobs
from tests.catcher import percentile
from tests.engine.fleet import every_fire_has_one_row, steady
from tests.engine.running import running
from tests.steps import move_clock, query, until
from tests.system.proxy import proxied

LONG = (pytest.mark.long, pytest.mark.timeout(7200))
P95_MS = 2000
MINUTES = 30


@pytest.mark.parametrize(("jobs", "beside", "seconds"), [(10, 20, 60), pytest.param(3334, 200, 600, marks=LONG)])
async def test_after_half_an_hour_without_nodes_the_backlog_goes_and_what_is_due_now_is_on_time(
    ctx, store, catcher, jobs, beside, seconds, record_property
):
    """Jobs of every minute that make up for all they missed, beside jobs of every second.

    What came due while the node started is late by its start, which a slow machine makes long: it is not judged.
    """
    start = store.cells[0].clock.now().replace(second=0, microsecond=0) + timedelta(minutes=1)
    made_up = Definition(
        trigger=IntervalTrigger(60, start),
        target=HttpTarget(f"{catcher.url}/missed"),
        policies=Policies(misfire=Misfire(OnMisfire.ALL), end=start + timedelta(minutes=MINUTES)),
    )
    await bulk_jobs(ctx, store, jobs, made_up, start, "missed")
    await move_clock(store, minutes=MINUTES + 2)
    back = store.cells[0].clock.now()
    await steady(ctx, store, catcher, beside)
    missed = jobs * MINUTES
    async with running(store):
        up = store.cells[0].clock.now()
        await until(lambda: len(catcher.of("/missed")) >= missed, seconds)
        seen = len(catcher.arrivals)
        await until(lambda: len(catcher.arrivals) >= seen + beside)
    on_time = [arrival for arrival in catcher.arrivals if arrival.path != "/missed"]
    p95 = percentile([arrival.late_ms for arrival in on_time if arrival.fire_time > up], 0.95)
    record_property("made_up_for", missed)
    record_property("p95_late_ms_beside", round(p95))
    assert p95 < P95_MS
    assert min(arrival.fire_time for arrival in on_time) >= back.replace(microsecond=0)
    assert len(catcher.of("/missed")) == missed
    assert len(catcher.effects) == len(catcher.arrivals)


@asynccontextmanager
async def behind_proxies(cells):
    """A node all of whose connections go through proxies."""
    async with AsyncExitStack() as stack:
        proxies = [stack.enter_context(proxied(cell.dsn)) for cell in cells]
        far = [Cell(cell.name, proxy.dsn) for cell, proxy in zip(cells, proxies, strict=True)]
        store = await stack.enter_async_context(Store(far))
        yield await stack.enter_async_context(running(store)), proxies


@pytest.mark.parametrize(
    ("times", "gone", "within"),
    [(1, 3, 60), pytest.param(100, 3, 10, marks=LONG), pytest.param(1, 300, 10, marks=LONG)],
)
async def test_when_postgresql_is_back_after_silence_there_is_full_service_within_ten_seconds(
    ctx, store, cells, catcher, times, gone, within, record_property
):
    """No reset, no word: established connections are dead, and only deadlines tell.

    The ten seconds are asked for where the machine has nothing else to do.
    """
    jobs, clock = 30, store.cells[0].clock
    await steady(ctx, store, catcher, jobs, policies=Policies(misfire=Misfire(OnMisfire.ALL)))
    async with behind_proxies(cells) as (node, proxies):
        for _ in range(times):
            await until(lambda: fresh(catcher, clock.now() - timedelta(seconds=2), jobs), 60)
            for proxy in proxies:
                proxy.cut()
            await asyncio.sleep(gone)
            for proxy in proxies:
                proxy.mend()
            healed = clock.now()
            await until(lambda healed=healed: fresh(catcher, healed, jobs), within)
            await until(lambda: not node.progress.stuck)
        calm = clock.now()
        await until(lambda: fresh(catcher, calm, jobs))
    later = [arrival.late_ms for arrival in catcher.arrivals if arrival.fire_time > calm]
    record_property("silences", times)
    record_property("p95_late_ms_after", round(percentile(later, 0.95)))
    assert percentile(later, 0.95) < P95_MS
    await every_fire_has_one_row(store, jobs)
    assert {row["state"] for row in await query(store, "select distinct state from instance_history")} == {"SUCCESS"}


def fresh(catcher, since, many):
    """Whether so many fires that were due after a moment have arrived."""
    return sum(arrival.fire_time > since for arrival in catcher.arrivals[-20 * many :]) >= many


@pytest.mark.parametrize(("seconds", "jobs"), [(3, 40), pytest.param(600, 800, marks=LONG)])
async def test_when_every_target_fails_for_a_while_there_is_no_storm_and_delay_is_small_soon_after(
    ctx, store, catcher, seconds, jobs, record_property
):
    clock = store.cells[0].clock
    start = await steady(ctx, store, catcher, jobs)
    broken, healed = start + timedelta(seconds=2), start + timedelta(seconds=2 + seconds)
    catcher.answer = lambda arrival: 503 if broken <= arrival.at < healed else 200
    async with running(store):
        await until(lambda: clock.now() > healed, seconds + 20)
        calm = healed + timedelta(seconds=min(300, max(40, seconds / 2)))
        await until(lambda: on_time(catcher, max(calm - timedelta(seconds=300), healed), jobs), 300)
        back = clock.now()
    during = [arrival for arrival in catcher.arrivals if broken <= arrival.at < healed]
    first = sum(arrival.attempt == 1 for arrival in catcher.arrivals)
    retries = len(catcher.arrivals) - first
    record_property("first_attempts", first)
    record_property("retries", retries)
    record_property("seconds_until_on_time", round((back - healed).total_seconds(), 1))
    assert back - healed < timedelta(minutes=5)
    assert during
    assert retries <= 0.2 * first + 20 * 10, "a fifth of first attempts, and a few of each target"
    dead = await query(store, "select from instance_history where state = 'DEAD' limit 1")
    assert not dead, "an outage of targets does not empty their jobs into dead letters"


@pytest.mark.parametrize(("seconds", "jobs"), [(3, 40), pytest.param(300, 800, marks=LONG)])
async def test_when_postgresql_is_back_under_load_what_is_due_then_is_soon_on_time(
    ctx, store, catcher, seconds, jobs, record_property
):
    """All of its processes stand still, and what was missed is made up for beside what is due."""
    clock = store.cells[0].clock
    start = await steady(ctx, store, catcher, jobs, policies=Policies(misfire=Misfire(OnMisfire.ALL)))
    server = await postmaster(store)
    async with running(store):
        await until(lambda: on_time(catcher, start, jobs), 60)
        with frozen(server):
            await asyncio.sleep(seconds)
        healed = clock.now()
        await until(lambda: on_time(catcher, healed, jobs), 300)
        back = clock.now()
    record_property("missed", sum(one.fire_time < healed <= one.at for one in catcher.arrivals))
    record_property("seconds_until_on_time", round((back - healed).total_seconds(), 1))
    assert back - healed < timedelta(minutes=5)
    await every_fire_has_one_row(store, jobs)


async def postmaster(store):
    """The process that started the server of a cell."""
    async with store.cells[0].statement() as tx:
        backend = await tx.value("select pg_backend_pid()")
        return int(Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()[1])


@contextmanager
def frozen(postmaster):
    """A PostgreSQL that stands still: no process of it runs, and no connection is closed."""
    os.kill(postmaster, SIGSTOP)  # first, so that it starts no further process
    stopped = processes_of(postmaster)
    try:
        send_all(stopped, SIGSTOP)
        yield
    finally:
        send_all(stopped, SIGCONT)


def on_time(catcher, since, many):
    """Whether the last so many first attempts that were due after a moment were on time, p95.

    It is asked all the time, in the loop of the node: it looks at the last arrivals only.
    """
    last = catcher.arrivals[-4 * many :]
    recent = [one.late_ms for one in last if one.fire_time > since and one.attempt == 1][-many:]
    return len(recent) >= many and percentile(recent, 0.95) < P95_MS
