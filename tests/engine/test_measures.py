"""Protective measures with a real node: signals open them, they act, and they end."""

from collections import Counter
from datetime import timedelta

import asyncpg
import pytest

from horae.domain.errors import RetryLimited
from horae.domain.health.signals import AttemptResult
from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.retries import RetryPolicy
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.measures.measures import MeasureAction, MeasureLines, MeasureName, MeasureOverride
from horae.domain.schedules import Misfire, OnMisfire, Policies
from horae.domain.targets.targets import HttpTarget
from horae.domain.tenants.tenants import SYSTEM
from horae.service.context import Context, PlatformContext
from horae.service.schedules import backfills
from horae.service.schedules.backfills import BackfillRequest
from horae.service.tenants import tenants
from horae.store.measures import measures
from horae.upkeep import measures as measures_duty
from horae.upkeep.copies import Copier
from tests.engine.measure_watch import MINUTE, Watch, a_node
from tests.steps import a_job, amid, every, move_clock, query


def count_late(store, tenant_id, many=50, delay_ms=4000):
    """First attempts of normal priority that came late, as a node under load counts them."""
    store.cells[0].signal_counts.count_delays(tenant_id, Priority.NORMAL, Lane.FIRST, *[delay_ms] * many)


def count_runs(store, tenant_id, *, died=0, succeeded=0):
    counts = store.cells[0].signal_counts
    counts.count_result(tenant_id, Priority.NORMAL, Lane.FIRST, AttemptResult.DEAD, died)
    counts.count_result(tenant_id, Priority.NORMAL, Lane.FIRST, AttemptResult.SUCCESS, succeeded)


async def jobs_of_each_priority(ctx, catcher, seconds=10, **facts):
    for priority in Priority:
        name = priority.name.lower()
        target = HttpTarget(f"{catcher.url}/{name}")
        await a_job(ctx, name, every(ctx, seconds, name), target=target, priority=priority, **facts)


async def fired_by(node, catcher):
    """How many calls of each job came since the last look, after everything that may go has gone."""
    catcher.arrivals.clear()
    await node.drain()
    return Counter(arrival.job for arrival in catcher.arrivals)


async def test_late_fires_pause_low_priority_and_it_comes_back(ctx, store, catcher):
    await amid(store, MINUTE)
    await jobs_of_each_priority(ctx, catcher, policies=Policies(misfire=Misfire(OnMisfire.SKIP)))
    async with a_node(store) as node:
        watch = Watch(store, node)
        for expected in (
            *[{MeasureAction.LIMIT_LOW}] * 4,
            {MeasureAction.PAUSE_LOW, MeasureAction.ASK_FOR_DISPATCHERS},
        ):
            count_late(store, ctx.tenant.id)
            await watch.minute()
            assert watch.actions(ctx.tenant.id) == expected
        await fired_by(node, catcher)
        await move_clock(store, seconds=30)
        fired = await fired_by(node, catcher)
        assert set(fired) == {"critical", "normal"}, "low priority is paused"
        [held] = [one.hold for one in node.admission.holds() if one.hold.reason is HoldReason.MEASURE]
        assert held.gate.name == "trigger_delay_p95/low"
        for _ in range(11):
            await watch.minute()
        assert not watch.in_force.measures, "the paused low priority does not keep its own measure in force"
        await fired_by(node, catcher)
        await move_clock(store, seconds=30)
        assert (await fired_by(node, catcher))["low"]
    rows = await query(store, "select reason from instance_history where state = 'SKIPPED'")
    assert {row["reason"] for row in rows} == {"MISFIRE"}


async def test_many_dead_letters_leave_core_work_only_and_everything_runs_again_afterwards(ctx, store, catcher):
    await amid(store, MINUTE)
    await jobs_of_each_priority(ctx, catcher)
    async with a_node(store) as node:
        watch = Watch(store, node)
        count_runs(store, ctx.tenant.id, died=21)
        await watch.minute()
        assert watch.actions(ctx.tenant.id) == {MeasureAction.CORE_ONLY}
        await fired_by(node, catcher)
        await move_clock(store, seconds=30)
        assert set(await fired_by(node, catcher)) == {"critical"}
        for _ in range(6):
            await watch.minute()
        assert not watch.in_force.measures
        await move_clock(store, seconds=30)
        assert set(await fired_by(node, catcher)) == {"critical", "normal", "low"}


async def test_a_tenant_whose_jobs_die_on_purpose_slows_nobody_and_closes_no_other_entrance(ctx, store, catcher):
    await amid(store, MINUTE)
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "other", width=4096), "test")
    await jobs_of_each_priority(ctx, catcher)
    job = await a_job(other, "theirs", every(other, 10, "theirs"), target=HttpTarget(f"{catcher.url}/theirs"))
    async with a_node(store) as node:
        watch = Watch(store, node)
        count_runs(store, other.tenant.id, died=1000)
        count_runs(store, ctx.tenant.id, succeeded=1000)
        await watch.minute()
        assert not watch.actions(ctx.tenant.id)
        assert MeasureAction.CORE_ONLY in watch.actions(other.tenant.id)
        assert MeasureAction.CLOSE_BACKFILLS in watch.actions(other.tenant.id)
        await fired_by(node, catcher)
        await move_clock(store, seconds=30)
        assert set(await fired_by(node, catcher)) == {"critical", "normal", "low"}
        since = store.cells[0].clock.now() - timedelta(minutes=1)
        asked = BackfillRequest(since, since + timedelta(seconds=30))
        await backfills.start(ctx, "normal", "ours", asked)
        with pytest.raises(RetryLimited, match="run_success_rate_10m") as refused:
            await backfills.start(other, job.name, "theirs", asked)
        assert refused.value.facts["measure"] == MeasureName.RUN_SUCCESS_RATE_10M


async def due_of(store, job):
    """When the waiting instance of a job is due."""
    [row] = await query(store, "select due_at from instance_live where job_id = $1 and state = 'FAIL'", job.id)
    return row["due_at"]


async def a_slow_job(ctx, catcher, name):
    """A job that fires once an hour, and waits for minutes before it tries again."""
    target, retry = HttpTarget(f"{catcher.url}/{name}"), RetryPolicy(base=100, jitter_min=0, jitter_max=0, longest=5000)
    return await a_job(ctx, name, every(ctx, 3600, name), target=target, retry=retry)


async def test_a_low_success_rate_of_runs_halves_the_rate_of_retries(ctx, store, catcher):
    await amid(store, MINUTE)
    catcher.answer = lambda _arrival: 503
    job = await a_slow_job(ctx, catcher, "failing")
    async with a_node(store) as node:
        watch = Watch(store, node)
        await move_clock(store, seconds=3600)
        await node.drain()
        assert 150 < (await due_of(store, job) - store.clock.now()).total_seconds() <= 200
        count_runs(store, ctx.tenant.id, died=2, succeeded=198)
        await watch.minute()
        assert watch.actions(ctx.tenant.id) == {MeasureAction.SLOW_RETRIES, MeasureAction.CLOSE_BACKFILLS}
        await move_clock(store, seconds=200)
        await node.drain()
        assert 700 < (await due_of(store, job) - store.clock.now()).total_seconds() <= 800, "400 s, twice"
        for _ in range(18):
            await watch.minute()
        assert not watch.in_force.measures, "200 runs are ten minutes ago"


async def test_a_backlog_of_retries_puts_long_work_behind_short_work(ctx, store, catcher):
    await amid(store, MINUTE)
    async with a_node(store) as node:
        watch = Watch(store, node, MeasureLines(retry_backlog=1))
        catcher.takes = 1.1
        long = await a_slow_job(ctx, catcher, "long")
        await move_clock(store, seconds=3600)
        await node.drain()
        catcher.takes, catcher.answer = 0.0, lambda _arrival: 503
        short = await a_slow_job(ctx, catcher, "short")
        await move_clock(store, seconds=3600)
        await node.drain()
        before = await due_of(store, long) - await due_of(store, short)
        await watch.minute()
        assert watch.actions(ctx.tenant.id) == {MeasureAction.SHORT_RETRIES_FIRST}
        await move_clock(store, seconds=200)
        await node.drain()
        after = await due_of(store, long) - await due_of(store, short)
        assert abs(before.total_seconds()) < 30
        assert 30 < after.total_seconds() < 90, "a run of more than a second waits a minute longer"


async def test_at_peak_every_second_low_fire_is_skipped_with_its_reason(ctx, store, catcher):
    skipped = "select from instance_history where state = 'SKIPPED' and reason = 'PEAK'"
    await amid(store, MINUTE)
    await jobs_of_each_priority(ctx, catcher)
    async with a_node(store) as node:
        watch = Watch(store, node, take_load=lambda: 0.81)
        await watch.minute()
        assert watch.actions(ctx.tenant.id) == {MeasureAction.THIN_LOW}
        await node.drain()
        fired, before = Counter(), len(await query(store, skipped))
        for _ in range(6):
            await move_clock(store, seconds=10)
            fired += await fired_by(node, catcher)
    assert fired == {"critical": 6, "normal": 6, "low": 3}
    assert len(await query(store, skipped)) == before + 3


async def test_a_person_overrides_a_measure_and_the_judge_keeps_that_decision(ctx, store, catcher):
    await amid(store, MINUTE)
    async with a_node(store) as node:
        watch = Watch(store, node)
        until = store.clock.now() + timedelta(hours=1)
        decided = MeasureOverride(in_force=False, until=until, actor="alice", reason="a load test")
        for cell in store.cells:
            async with cell.tx() as tx:
                await measures.override(tx, MeasureName.DLQ_GROWTH_RATE, ctx.tenant.id, decided)
        count_runs(store, ctx.tenant.id, died=21)
        await watch.minute()
        assert not watch.in_force.measures
        [row] = await query(store.cells[0], "select level, override ->> 'actor' as actor from measure")
        assert (row["level"], row["actor"]) == (1, "alice")


async def test_changes_are_events_and_audited_for_the_tenant_concerned(ctx, store):
    await amid(store, MINUTE)
    async with a_node(store) as node:
        watch = Watch(store, node)
        count_runs(store, ctx.tenant.id, died=21)
        await watch.minute()
        for _ in range(6):
            await watch.minute()
    events = await query(store, "select event, body from outbox where event like 'MEASURE%' order by at")
    assert [row["event"] for row in events] == ["MEASURE_OPENED", "MEASURE_ENDED"]
    audited = await query(
        store, "select action, actor, resource from audit_log where action like 'measure.%' order by at"
    )
    assert [tuple(row) for row in audited] == [
        ("measure.opened", "horae", "dlq_growth_rate"),
        ("measure.ended", "horae", "dlq_growth_rate"),
    ]


async def test_a_measure_is_recorded_also_when_its_causes_cannot_be_looked_for(ctx, store, monkeypatch):
    """The look goes over all cells, just when they are slow; the level has changed by then, and changes no more."""

    async def cut(*_):
        raise asyncpg.QueryCanceledError("canceling statement due to statement timeout")

    monkeypatch.setattr(measures_duty, "explain_delays", cut)
    await tenants.create(PlatformContext(store, "test"), SYSTEM, width=1)
    await Copier(store).once()
    await amid(store, MINUTE)
    async with a_node(store) as node:
        watch = Watch(store, node)
        count_late(store, ctx.tenant.id)
        with pytest.raises(asyncpg.QueryCanceledError):
            await watch.minute()
        await watch.minute()
    opened = await query(store, "select event from outbox where event = 'MEASURE_OPENED'")
    assert opened
