"""A backfill beside live work, with nodes that are killed: every fire once, live work in time, none starves (W-04)."""

import asyncio
from datetime import timedelta

import pytest

from horae.domain.instances.instances import Lane
from horae.domain.schedules.backfills import BackfillStatus
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.service.schedules import backfills
from horae.service.schedules.backfills import BackfillRequest
from tests.catcher import catching
from tests.engine.fleet import steady
from tests.steps import a_job, query, until
from tests.system.processes import node_processes

LONG = (pytest.mark.long, pytest.mark.timeout(6 * 3600))
TTL_S = 2.0
PERIOD_S = 60
LIVE_P95_MS = 250
CLOSE = 0.5
"""How far the estimate may be from the truth once a tenth is done. It does not foresee that nodes are killed."""
SETTLED_S = 5
"""How long after a killed node serves again its shards are with it, and its first calls were made."""
ENDED_TWICE = "select fire_time from instance_history where job_id = $1 group by 1 having count(*) > 1"
LIVE_DELAYS = """
    select date_bin('5 seconds', fire_time, $2) as slice,
           percentile_disc(0.95) within group (order by trigger_delay_ms) as p95_ms
    from instance_history where job_id <> $1 and lane = 0 and trigger_delay_ms is not null group by 1 order by 1"""
SLICE = timedelta(seconds=5)


@pytest.fixture
async def catcher(store):
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher


@pytest.fixture
async def nodes(cells, tmp_path):
    with node_processes(2, tmp_path, cells, TTL_S) as both:
        yield both


class Walk:
    """A backfill of a job that fires every minute, and how far it is."""

    def __init__(self, ctx, store, catcher):
        self.ctx, self.store, self.catcher = ctx, store, catcher
        self.job = self.begun = self.last = None

    async def start(self, fires):
        """Begin a backfill of so many fires."""
        past = timedelta(seconds=fires * PERIOD_S)
        now = self.store.cells[0].clock.now().replace(microsecond=0)
        trigger = IntervalTrigger(PERIOD_S, now - past)
        self.job = await a_job(self.ctx, "past", trigger, target=HttpTarget(f"{self.catcher.url}/past"))
        until_ = self.job.next_fire_at
        asked = BackfillRequest(until_ - past, until_, cap=fires)
        self.begun = (await backfills.start(self.ctx, "past", "k", asked)).backfill
        assert self.begun.planned == fires

    async def reached(self, done):
        """Whether so many of its instances have ended."""
        self.catcher.arrivals.clear()  # rows are judged, and a million arrivals are many
        self.last = await backfills.show(self.ctx, self.begun.id)
        return self.last.progress.done >= done

    async def is_at_rest(self):
        """Whether none of its instances is live."""
        await self.reached(0)
        return not self.last.waiting


@pytest.mark.parametrize(
    ("live", "fires", "kills"), [(10, 900, 1), pytest.param(500, 500_000, 6, marks=LONG, id="full size")]
)
async def test_a_backfill_beside_live_work_gives_every_fire_once_though_nodes_are_killed(
    ctx, store, catcher, nodes, live, fires, kills, record_property
):
    is_full_size = fires > 10_000
    loaded = store.cells[0].clock.now()
    await steady(ctx, store, catcher, live)
    await asyncio.gather(*(node.ready() for node in nodes))
    walk = Walk(ctx, store, catcher)
    await walk.start(fires)
    began = store.cells[0].clock.now()
    limit_s = 6 * 3600 if is_full_size else 120

    await until(lambda: walk.reached(fires / 10), limit_s)
    estimated, asked_at = walk.last.progress.left_s, store.cells[0].clock.now()
    struck = [(loaded, began)]  # from when to when a node was missing: at first all were
    for number in range(kills):
        await until(lambda number=number: walk.reached(fires * (number + 2) / (kills + 4)), limit_s)
        nodes[number % 2].kill()
        killed_at = store.cells[0].clock.now()
        await nodes[number % 2].ready(60)
        struck.append((killed_at, store.cells[0].clock.now()))

    paused_at = store.cells[0].clock.now()
    if (await backfills.show(ctx, walk.begun.id)).backfill.status == BackfillStatus.RUNNING:
        paused = await backfills.pause(ctx, walk.begun.id)
        await until(walk.is_at_rest, 120)
        assert (await backfills.show(ctx, walk.begun.id)).backfill.inserted == paused.inserted
        await backfills.resume(ctx, walk.begun.id)
    pause_s = (store.cells[0].clock.now() - paused_at).total_seconds()

    await until(lambda: walk.reached(fires), limit_s)
    took_s = (store.cells[0].clock.now() - asked_at).total_seconds() - pause_s
    whole_s = (store.cells[0].clock.now() - began).total_seconds() - pause_s
    assert walk.last.backfill.status == BackfillStatus.DONE

    cell = store.cell(walk.job.shard)
    count = "select count(*)::int as rows, count(distinct fire_time)::int as fires, min(state) as state from "
    [row] = await query(cell, f"{count} instance_history where job_id = $1 and lane = $2", walk.job.id, Lane.BACKFILL)
    assert (row["rows"], row["fires"], row["state"]) == (fires, fires, "SUCCESS"), "every fire has one row"
    assert await query(cell, ENDED_TWICE, walk.job.id) == []
    slices = [
        (one["slice"], one["p95_ms"])
        for place in store.cells
        for one in await query(place, LIVE_DELAYS, walk.job.id, began)
    ]
    settled = timedelta(seconds=SETTLED_S)

    def seconds(at):
        return round((at - began).total_seconds(), 1)

    calm = [p95 for at, p95 in slices if not any(begin - SLICE <= at <= end + settled for begin, end in struck)]
    missing_s = sum((end - begin).total_seconds() for begin, end in struck[1:])
    record_property("fires", fires)
    record_property("kills", kills)
    record_property("backfill_per_s", round(fires / whole_s, 1))
    record_property("estimate", round(estimated / max(took_s, 0.001), 2))
    record_property("node_missing_s", round(missing_s, 1))
    record_property("live_p95_ms", max(calm, default=0))
    record_property("calm_slices", len(calm))
    record_property("live_p95_with_kills_ms", max((p95 for _, p95 in slices), default=0))
    record_property("late_slices", [[seconds(at), p95] for at, p95 in slices if p95 > LIVE_P95_MS])
    record_property("node_missing_at", [[seconds(begin), seconds(end)] for begin, end in struck[1:]])
    if is_full_size:  # a small one may have a busy neighbour
        assert (1 - CLOSE) * (took_s - missing_s) <= estimated <= (1 + CLOSE) * took_s
        assert len(calm) >= kills
        assert max(calm) <= LIVE_P95_MS
