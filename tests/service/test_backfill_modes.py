"""Modes, order, rate and pauses of backfills: which fires run, in what order, how fast, and that none is lost."""

import asyncio
from datetime import timedelta

import pytest

from horae.domain.errors import Conflict, Invalid, RetryLimited
from horae.domain.fire_audit.findings import FireFault
from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import Success, Unrecoverable
from horae.domain.measures.measures import MeasureAction
from horae.domain.schedules.backfills import BackfillMode
from horae.engine import backfills as engine
from horae.service.audit.fires import AuditRange, audit_fires
from horae.service.schedules import backfills
from horae.service.schedules.backfills import BackfillRequest
from tests.service.test_backfills import backfillers, past, walked
from tests.steps import claim_everywhere, move_clock, query, settle

HOUR = timedelta(hours=1)


async def mixed(ctx, store):
    """An hour of fires: 20 succeeded, 10 died, the others never ran. Returns the request and the two sets of times."""
    _, asked = await past(ctx, store)
    first = await backfills.start(ctx, "a", "first", BackfillRequest(asked.since, asked.until))
    await walked(store)
    claimed = await claim_everywhere(store, lane=Lane.BACKFILL)
    for ran in claimed[:20]:
        await settle(store, ran, Success())
    for ran in claimed[20:30]:
        await settle(store, ran, Unrecoverable("NO", "no"))
    for table in ("instance_live", "backfill"):
        await query(store, f"delete from {table}")
    rows = await query(store, "select fire_time, state from instance_history where lane = 2")
    times = {state: {row["fire_time"] for row in rows if row["state"] == state} for state in ("SUCCESS", "DEAD")}
    assert (len(times["SUCCESS"]), len(times["DEAD"])) == (20, 10)
    return asked, times, first.backfill.planned


async def live_times(store):
    return {row["fire_time"] for row in await query(store, "select fire_time from instance_live")}


async def lost(store, asked):
    """The fires that a backfill has passed without a row, as the audit of fires finds them."""
    found = [one async for one in audit_fires(store.cells, AuditRange(asked.since, asked.until))]
    findings = [finding for one in found for finding in one.verdict.findings]
    return [finding.at for finding in findings if finding.fault == FireFault.LOST_BACKFILL]


@pytest.mark.parametrize("mode", list(BackfillMode))
async def test_each_mode_runs_the_fires_it_names_and_counts_the_others(ctx, store, mode):
    asked, times, planned = await mixed(ctx, store)
    begun = await backfills.start(ctx, "a", "k", BackfillRequest(asked.since, asked.until, mode=mode))
    await walked(store)
    found = await live_times(store)
    expected = {
        BackfillMode.ALL: planned,
        BackfillMode.UNSUCCESSFUL: planned - 20,
        BackfillMode.MISSING: planned - 30,
        BackfillMode.FAILED: 10,
    }[mode]
    shown = await backfills.show(ctx, begun.backfill.id)
    assert (len(found), shown.backfill.inserted, shown.backfill.already) == (expected, expected, planned - expected)
    assert begun.backfill.needed == expected
    if mode != BackfillMode.ALL:
        assert not found & times["SUCCESS"]
    if mode == BackfillMode.FAILED:
        assert found == times["DEAD"]
    if mode == BackfillMode.MISSING:
        assert not found & times["DEAD"]
    assert await lost(store, asked) == [], "the audit of fires knows what a mode leaves out"
    first = "select min(fire_time) from instance_live"
    [one] = await query(store, f"delete from instance_live where fire_time = ({first}) returning fire_time")
    assert await lost(store, asked) == [one["fire_time"]]


@pytest.mark.parametrize("newest_first", [False, True])
async def test_the_oldest_or_the_newest_fires_come_first_and_none_is_left_out(ctx, store, monkeypatch, newest_first):
    monkeypatch.setattr(engine, "BATCH", 7)
    _, asked = await past(ctx, store)
    begun = await backfills.start(ctx, "a", "k", BackfillRequest(asked.since, asked.until, newest_first=newest_first))
    seen = set()
    while True:
        for walker in backfillers(store):
            await walker.once()
        new = await live_times(store) - seen
        if not new:
            break
        if seen:
            assert max(new) < min(seen) if newest_first else min(new) > max(seen)
        assert await lost(store, asked) == [], "what it has not reached is not lost"
        seen |= new
    shown = await backfills.show(ctx, begun.backfill.id)
    assert (shown.backfill.status, len(seen)) == ("DONE", begun.backfill.planned)


async def test_a_rate_lets_no_more_be_created_than_it_says(ctx, store):
    _, asked = await past(ctx, store, hours=6)
    begun = await backfills.start(ctx, "a", "k", BackfillRequest(asked.since, asked.until, rate=2.0))
    for seconds in (1, 1, 1, 30, 1):
        await move_clock(store, seconds=seconds)
        await walked(store)
        await query(store, "delete from instance_live")  # all of them ran
    shown = await backfills.show(ctx, begun.backfill.id)
    assert shown.backfill.inserted == 2 + 2 + 2 + 4 + 2, "two seconds are made up for, and not thirty"


async def test_a_paused_one_creates_nothing_and_a_resumed_one_leaves_nothing_out(ctx, store, monkeypatch):
    monkeypatch.setattr(engine, "BATCH", 20)
    _, asked = await past(ctx, store)
    begun = (await backfills.start(ctx, "a", "k", asked)).backfill
    for walker in backfillers(store):
        await walker.once()
    paused = await backfills.pause(ctx, begun.id)
    assert (paused.status, paused.inserted) == ("PAUSED", 20)
    await walked(store)
    assert len(await live_times(store)) == 20, "those that exist run, and no more are created"
    with pytest.raises(Conflict):
        await backfills.pause(ctx, begun.id)
    with pytest.raises(Conflict, match="has not ended"):
        await backfills.start(ctx, "a", "k2", asked)
    await move_clock(store, hours=2)
    resumed = await backfills.resume(ctx, begun.id)
    assert resumed.status == "RUNNING"
    assert resumed.paused_s == pytest.approx(7200, abs=60)
    with pytest.raises(Conflict):
        await backfills.resume(ctx, begun.id)
    await walked(store)
    rows = await query(store, "select fire_time from instance_live")
    assert len(rows) == len({row["fire_time"] for row in rows}) == begun.planned
    actions = await query(store, "select action from audit_log where action like 'backfill.%' order by at")
    assert [row["action"] for row in actions] == ["backfill.started", "backfill.paused", "backfill.resumed"]


async def test_a_paused_one_can_be_cancelled(ctx, store):
    _, asked = await past(ctx, store)
    begun = (await backfills.start(ctx, "a", "k", asked)).backfill
    await backfills.pause(ctx, begun.id)
    cancelled = await backfills.cancel(ctx, begun.id)
    assert (cancelled.status, cancelled.paused_at) == ("CANCELLED", None)


async def test_a_pause_between_reading_and_inserting_wins(ctx, store, monkeypatch):
    """A node has read the backfill as running; its compare-and-set then finds it paused."""
    _, asked = await past(ctx, store)
    begun = (await backfills.start(ctx, "a", "k", asked)).backfill
    real = engine.next_portion
    done = asyncio.Event()

    def next_portion(*args):
        done.set()
        return real(*args)

    monkeypatch.setattr(engine, "next_portion", next_portion)
    read = engine.backfills.running

    async def running(*args):
        page = await read(*args)
        if page:
            await backfills.pause(ctx, begun.id)
        return page

    monkeypatch.setattr(engine.backfills, "running", running)
    for walker in backfillers(store):
        await walker.once()
    assert done.is_set()
    assert await live_times(store) == set()


async def test_a_transaction_that_fails_leaves_the_cursor_where_it_was(ctx, store, monkeypatch):
    _, asked = await past(ctx, store)
    begun = (await backfills.start(ctx, "a", "k", asked)).backfill
    real = engine.backfills.count

    async def count(*_args):
        raise RuntimeError("the node dies here")

    monkeypatch.setattr(engine.backfills, "count", count)
    for walker in backfillers(store):
        await walker.once()
    assert await live_times(store) == set()
    monkeypatch.setattr(engine.backfills, "count", real)
    await walked(store)
    assert len(await live_times(store)) == begun.planned


async def test_under_a_measure_neither_start_nor_resume_and_the_refusal_names_it(ctx, store, monkeypatch):
    _, asked = await past(ctx, store)
    begun = (await backfills.start(ctx, "a", "k", BackfillRequest(asked.since, asked.since + HOUR / 2))).backfill
    await backfills.pause(ctx, begun.id)

    def refuse(_ctx, _shard, action, meaning):
        assert action == MeasureAction.CLOSE_BACKFILLS
        raise RetryLimited(f"the measure retry_backlog is in force: {meaning}", measure="retry_backlog")

    monkeypatch.setattr(backfills, "refuse_by_measure", refuse)
    with pytest.raises(RetryLimited, match="retry_backlog"):
        await backfills.resume(ctx, begun.id)
    with pytest.raises(RetryLimited, match="retry_backlog"):
        await backfills.start(ctx, "a", "k2", BackfillRequest(asked.since + HOUR / 2, asked.until))


async def test_a_rate_out_of_bounds_is_refused(ctx, store):
    _, asked = await past(ctx, store)
    with pytest.raises(Invalid, match="rate"):
        await backfills.start(ctx, "a", "k", BackfillRequest(asked.since, asked.until, rate=0.001))
