"""Past fires, asked for as a range: born once, in portions, in their own lane."""

import asyncio
from datetime import timedelta

import pytest

from horae.domain.errors import Conflict, Duplicate, Invalid, NotFound
from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import Success
from horae.domain.schedules.backfills import MAX_WAITING, BackfillMode
from horae.domain.schedules.triggers import KeyedTrigger
from horae.domain.targets.targets import HttpTarget
from horae.engine.backfills import Backfiller
from horae.engine.territory import Territory
from horae.service.context import PlatformContext
from horae.service.jobs import jobs
from horae.service.schedules import backfills
from horae.service.schedules.backfills import BackfillRequest
from horae.service.tenants import tenants
from tests.catcher import catching
from tests.nodes import node_in
from tests.steps import Looker, a_job, claim_everywhere, every, move_clock, query, settle

TTL = timedelta(seconds=8)


def backfillers(store):
    return [Backfiller(cell, Territory(store.shards_of(cell)), lambda _timer: None) for cell in store.cells]


async def walked(store):
    """Until nothing more can be born now."""
    for walker in backfillers(store):
        while await walker.once():
            pass


async def past(ctx, store, hours=1, name="a", **facts):
    """A job that fires every minute, and a range of so many hours before its first fire."""
    job = await a_job(ctx, name, every(ctx, 60, name), **facts)
    await move_clock(store, hours=hours)
    looker = Looker(store, store.cell(job.shard))
    await looker.once()  # what was missed is told as misfires, and the cursor goes on
    await query(store, "delete from instance_live")
    return job, BackfillRequest(job.next_fire_at, job.next_fire_at + timedelta(hours=hours))


async def test_every_fire_of_the_range_is_born_once_in_the_backfill_lane_whoever_walks(ctx, store):
    _, asked = await past(ctx, store)
    started = await backfills.start(ctx, "a", "k", asked)
    assert started.backfill.planned in {59, 60}
    both = [*backfillers(store), *backfillers(store)]
    await asyncio.gather(*(walker.once() for walker in both))
    rows = await query(store, "select fire_time, lane, state, idem_key from instance_live")
    assert len(rows) == len({row["fire_time"] for row in rows}) == started.backfill.planned
    assert {(row["lane"], row["state"]) for row in rows} == {(Lane.BACKFILL, "INIT")}
    shown = await backfills.show(ctx, started.backfill.id)
    assert (shown.backfill.status, shown.backfill.inserted, shown.waiting) == ("DONE", len(rows), len(rows))
    events = await query(store, "select event from outbox where event like 'BACKFILL%' order by at")
    assert [row["event"] for row in events] == ["BACKFILL_STARTED", "BACKFILL_DONE"]
    audited = await query(store, "select detail from audit_log where action = 'backfill.started'")
    assert len(audited) == 1


async def test_the_same_key_begins_it_once_and_another_request_under_it_is_refused(ctx, store):
    _, asked = await past(ctx, store)
    first = await backfills.start(ctx, "a", "k", asked)
    again = await backfills.start(ctx, "a", "k", asked)
    assert (again.replayed, again.backfill.id) == (True, first.backfill.id)
    with pytest.raises(Duplicate) as refused:
        await backfills.start(ctx, "a", "k", BackfillRequest(asked.since, asked.until, mode=BackfillMode.ALL))
    assert refused.value.facts["state"] == "RUNNING"


async def test_what_succeeded_before_is_left_alone_unless_it_is_run_again_on_purpose(ctx, store):
    _, asked = await past(ctx, store)
    await backfills.start(ctx, "a", "k1", asked)
    await walked(store)
    for ran in (await claim_everywhere(store, lane=Lane.BACKFILL))[:40]:
        await settle(store, ran, Success())
    before = len(await query(store, "select id from instance_live"))
    again = await backfills.start(ctx, "a", "k2", asked)
    await walked(store)
    shown = await backfills.show(ctx, again.backfill.id)
    assert (shown.backfill.inserted, shown.backfill.already) == (0, again.backfill.planned)
    rerun = await backfills.start(ctx, "a", "k3", BackfillRequest(asked.since, asked.until, mode=BackfillMode.ALL))
    await walked(store)
    rows = await query(store, "select idem_key from instance_live")
    assert len(rows) == before + rerun.backfill.planned
    assert len({row["idem_key"] for row in rows}) == len(rows)


async def test_a_range_never_reaches_past_the_jobs_cursor_nor_into_one_that_runs(ctx, store):
    _, asked = await past(ctx, store)
    cursor = (await jobs.find(ctx, "a")).next_fire_at
    started = await backfills.start(ctx, "a", "k", BackfillRequest(asked.since, asked.until + timedelta(days=3)))
    assert started.backfill.until == cursor
    with pytest.raises(Conflict, match="part of this range"):
        await backfills.start(ctx, "a", "k2", BackfillRequest(asked.since + timedelta(minutes=5), asked.until))
    with pytest.raises(Invalid):
        await backfills.start(ctx, "a", "k3", BackfillRequest(cursor, cursor + timedelta(hours=1)))
    with pytest.raises(Invalid, match="more than the cap"):
        await backfills.start(ctx, "a", "k4", BackfillRequest(asked.since, asked.until, cap=3))


async def test_of_two_overlapping_ranges_asked_for_at_once_one_begins(ctx, store):
    _, asked = await past(ctx, store)
    both = await asyncio.gather(*(backfills.start(ctx, "a", str(n), asked) for n in range(4)), return_exceptions=True)
    assert sum(isinstance(one, Conflict) for one in both) == 3
    assert len(await query(store, "select id from backfill")) == 1


async def test_seed_002_example_8_a_long_one_waits_while_enough_of_it_lives_and_a_cancel_ends_what_waits(ctx, store):
    _, asked = await past(ctx, store, hours=30)
    started = await backfills.start(ctx, "a", "k", asked)
    await walked(store)
    assert len(await query(store, "select id from instance_live")) == MAX_WAITING
    ran = await claim_everywhere(store, lane=Lane.BACKFILL)
    await settle(store, ran[0], Success())
    cancelled = await backfills.cancel(ctx, started.backfill.id)
    assert cancelled.status == "CANCELLED"
    await walked(store)
    shown = await backfills.show(ctx, started.backfill.id)
    assert shown.waiting == len(ran) - 1, "what runs may finish"
    assert shown.ended == {"SUCCESS": 1, "CANCELLED": MAX_WAITING - len(ran)}
    with pytest.raises(Conflict):
        await backfills.cancel(ctx, started.backfill.id)


async def test_cancelling_a_rerun_leaves_what_waits_of_the_backfill_before_it(ctx, store):
    _, asked = await past(ctx, store)
    first = await backfills.start(ctx, "a", "k", asked)
    await walked(store)
    again = await backfills.start(ctx, "a", "k2", BackfillRequest(asked.since, asked.until, mode=BackfillMode.ALL))
    for walker in backfillers(store):
        await walker.once()
    waiting = {one: (await backfills.show(ctx, one.backfill.id)).waiting for one in (first, again)}
    assert waiting == {one: one.backfill.planned for one in (first, again)}
    await query(store, "update backfill set status = 'RUNNING', ended_at = null where rerun")
    await backfills.cancel(ctx, again.backfill.id)
    assert (await backfills.show(ctx, first.backfill.id)).waiting == first.backfill.planned
    assert (await backfills.show(ctx, again.backfill.id)).waiting == 0


async def test_jobs_without_a_schedule_paused_ones_and_other_tenants_are_refused(ctx, store):
    job, asked = await past(ctx, store)
    started = await backfills.start(ctx, "a", "k", asked)
    await a_job(ctx, "typed", KeyedTrigger())
    with pytest.raises(Conflict):
        await backfills.start(ctx, "typed", "k", asked)
    await jobs.pause(ctx, "a")
    with pytest.raises(Conflict):
        await backfills.start(ctx, "a", "k5", BackfillRequest(asked.since - timedelta(hours=1), asked.since))
    await walked(store)
    assert await query(store, "select id from instance_live") == [], "a paused job's backfill waits"
    other = ctx._replace(tenant=await tenants.create(PlatformContext(store, "test"), "other", width=4096))
    for verb in (backfills.show, backfills.cancel):
        with pytest.raises(NotFound):
            await verb(other, started.backfill.id)
    assert await backfills.of_job(other, job) == []
    assert [one.id for one in await backfills.of_job(ctx, job)] == [started.backfill.id]


async def test_a_node_walks_it_and_calls_the_target_with_the_fires_own_times_and_keys(ctx, store):
    async with catching(store.cells[0].clock.now) as catcher:
        _, asked = await past(ctx, store, target=HttpTarget(catcher.url))
        started = await backfills.start(
            ctx, "a", "k", BackfillRequest(asked.since, asked.since + timedelta(minutes=10))
        )
        node = node_in(store, "n", TTL)
        await node.drain()
        await node.leave()
        assert len(catcher.effects) >= started.backfill.planned == 10
    shown = await backfills.show(ctx, started.backfill.id)
    assert (shown.backfill.status, shown.ended) == ("DONE", {"SUCCESS": 10})
