"""Kinds of rules about a state: of signals, targets, sources, sets, intakes."""

from datetime import timedelta

import pytest

from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.rules import AlertRule
from horae.domain.errors import Invalid
from horae.domain.events.channels import Broker, TopicAddress
from horae.domain.events.intakes import Intake
from horae.domain.health.signals import AttemptResult
from horae.domain.ids import shard_in
from horae.domain.instances.instances import Priority
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.holds import GateKind, GateName, HeldLane, Hold
from horae.domain.rolling.rolling import Coverage
from horae.domain.targets.targets import QueueTarget
from horae.runtime.randomness import new_token
from horae.service.alerts import channels
from horae.service.events import intakes
from horae.store.events import intakes as intake_rows
from horae.store.health.level_counts import LevelRow
from horae.store.limits import holds
from horae.store.rolling import coverages
from horae.upkeep.signals import Signaller
from tests.alerts.test_rule_kinds import statuses
from tests.alerts.world import a_channel
from tests.steps import Looker, a_job, a_type, every, move_clock, query

NODE = """
insert into node (started_at, seen_at, expires_at, incarnation, name) values ($1, $1, $2, $3, 'node-1')
"""
WAITING = """
insert into signal (minute, writer, tenant_id, priority, lane, retry_backlog, backlog) values ($1, $2, $3, 1, 1, 500, 0)
"""
ROUND = """
with made as (
    insert into source (changed_at, shard_id, id, tenant_id, job_id, name, changed_by, spec)
    values ($1, $2, $3, $4, $5, 'shop', 'test', '{}') on conflict do nothing)
insert into source_round (began_at, ended_at, number, shard_id, source_id, tenant_id, dry, status, counts)
values ($1, $1, $6, $2, $3, $4, false, 'DONE', $7)
"""


@pytest.fixture
async def put(ctx, world, hook):
    await a_channel(ctx, hook)

    async def put(kind, **facts):
        await channels.put_rule(ctx, "rule", AlertRule(kind=kind, **facts))
        await world.round()

    return put


@pytest.fixture
def cell(ctx):
    return ctx.store.cell(shard_in(ctx.tenant.id))


async def test_trigger_delay_p95(ctx, world, hook, put, cell):
    await put(AlertKind.TRIGGER_DELAY_P95)
    cell.signal_counts.count_delays(ctx.tenant.id, 1, 0, *[5000] * 20)
    await Signaller(ctx.store, new_token()).once()
    await world.round(seconds=15)
    assert statuses(hook, "trigger_delay_p95") == ["firing"]
    await world.round(minutes=7)
    assert statuses(hook, "trigger_delay_p95") == ["firing", "resolved"]


async def test_run_success_rate_10m(ctx, world, hook, put, cell):
    await put(AlertKind.RUN_SUCCESS_RATE_10M, threshold=0.9)
    cell.signal_counts.count_result(ctx.tenant.id, 1, 0, AttemptResult.SUCCESS, 50)
    cell.signal_counts.count_result(ctx.tenant.id, 1, 0, AttemptResult.FAILED, 50)
    await Signaller(ctx.store, new_token()).once()
    await world.round(seconds=15)
    assert statuses(hook, "run_success_rate_10m") == ["firing"]
    await world.round(minutes=13)
    assert statuses(hook, "run_success_rate_10m") == ["firing", "resolved"]


async def test_dlq_growth_rate(ctx, world, hook, put, cell):
    await put(AlertKind.DLQ_GROWTH_RATE, threshold=10)
    cell.signal_counts.count_result(ctx.tenant.id, 1, 0, AttemptResult.DEAD, 50)
    await Signaller(ctx.store, new_token()).once()
    await world.round(seconds=15)
    assert statuses(hook, "dlq_growth_rate") == ["firing"]
    await world.round(minutes=6)
    assert statuses(hook, "dlq_growth_rate") == ["firing", "resolved"]


async def test_retry_backlog(ctx, world, hook, put, cell):
    await put(AlertKind.RETRY_BACKLOG, threshold=10)
    minute = cell.clock.now().replace(second=0, microsecond=0)
    await query(cell, WAITING, minute, new_token(), ctx.tenant.id)
    await world.round(seconds=15)
    assert statuses(hook, "retry_backlog") == ["firing"]
    await world.round(minutes=6)
    assert statuses(hook, "retry_backlog") == ["firing", "resolved"]


@pytest.mark.parametrize(
    ("reason", "text"),
    [(HoldReason.BREAKER, "the circuit breaker of {} is open"), (HoldReason.NO_ANSWER, "{} answers nothing")],
)
async def test_breaker_open(ctx, world, hook, put, cell, reason, text):
    await put(AlertKind.BREAKER_OPEN)
    now, node = cell.clock.now(), new_token()
    await query(cell, NODE, now, now + timedelta(days=1), node)
    gate, lane = GateName(GateKind.TARGET, "https://shop.example.com/pay?token=canary"), next(iter(HeldLane))
    hold = Hold(tenant_id=ctx.tenant.id, gate=gate, lane=lane, reason=reason, since=now, waiting=7, next_try_at=None)
    async with cell.tx() as tx:
        await holds.write(tx, node, [], [hold])
    await world.round(seconds=15)
    assert statuses(hook, "breaker_open") == ["firing"]
    assert text.format("https://shop.example.com/pay") in hook.got[-1]["reason"]
    assert "canary" not in str(hook.got)
    async with cell.tx() as tx:
        await holds.write(tx, node, [(ctx.tenant.id, gate, lane)], [])
    await world.round(seconds=70)
    assert statuses(hook, "breaker_open") == ["firing", "resolved"]


@pytest.mark.parametrize(
    ("kind", "counts"), [(AlertKind.SOURCE_DRIFT, {"drifted": 3}), (AlertKind.SOURCE_PENDING_DEAD, {"dead": 2})]
)
async def test_source_drift_and_source_pending_dead(ctx, world, hook, put, kind, counts):
    await put(kind)
    job = await a_type(ctx)
    home, id_ = ctx.store.cell(job.shard), new_token()
    facts = (job.shard, id_, ctx.tenant.id, job.id)
    await query(home, ROUND, home.clock.now(), *facts, 1, counts)
    await world.round(seconds=15)
    assert statuses(hook, kind) == ["firing"]
    await query(home, ROUND, home.clock.now(), *facts, 2, {})
    await world.round(seconds=70)
    assert statuses(hook, kind) == ["firing", "resolved"]


async def test_rolling_coverage(ctx, world, hook, put):
    await put(AlertKind.ROLLING_COVERAGE)
    job = await a_job(ctx)
    home = ctx.store.cell(job.shard)

    async def measure(*, met):
        async with home.tx() as tx:
            found = Coverage(tx.now, subjects=100, fresh=100 if met else 60, occupied=0, met=met, ages=(0,) * 7)
            await coverages.write(tx, job.shard, ctx.tenant.id, job.id, found)

    await measure(met=False)
    await world.round(seconds=15)
    assert statuses(hook, "rolling_coverage") == ["firing"]
    await measure(met=True)
    await world.round(seconds=70)
    assert statuses(hook, "rolling_coverage") == ["firing", "resolved"]


async def test_intake_stuck(ctx, world, hook, put, cell):
    await put(AlertKind.INTAKE_STUCK)
    ctx.store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    made = await intakes.put(ctx, "changes", Intake(TopicAddress("main", "acme.changes")))

    async def look(**facts):
        async with cell.tx() as tx:
            await intake_rows.move(tx, made.channel.id, ctx.tenant.id, **facts)

    await look(taken=1, waiting=0)
    await world.round(seconds=70)
    assert statuses(hook, "intake_stuck") == []
    await look(waiting=12)
    await world.round(seconds=15)
    assert statuses(hook, "intake_stuck") == ["firing"]
    await look(taken=12, waiting=0)
    await world.round(seconds=70)
    assert statuses(hook, "intake_stuck") == ["firing", "resolved"]


async def test_queue_unpolled(ctx, world, hook, put):
    await put(AlertKind.QUEUE_UNPOLLED, threshold=60)
    job = await a_job(ctx, "job", every(ctx, 3600), target=QueueTarget("reports"))
    home = ctx.store.cell(job.shard)
    await move_clock(ctx.store, seconds=3600)
    await Looker(ctx.store, home).once()
    await world.round(seconds=30)
    assert statuses(hook, "queue_unpolled") == []
    await world.round(seconds=40)
    assert statuses(hook, "queue_unpolled") == ["firing"]
    assert "reports" in hook.got[-1]["reason"]
    await query(home, "delete from instance_live")  # a worker took it
    await world.round(seconds=70)
    assert statuses(hook, "queue_unpolled") == ["firing", "resolved"]


async def test_a_tenant_cannot_have_a_rule_about_the_platform(ctx):
    with pytest.raises(Invalid):
        await channels.put_rule(ctx, "rule", AlertRule(kind=AlertKind.CELL_DOWN))


async def test_error_budget_burning(ctx, world, hook, put, cell):
    """A hundred due times of which half were late burn the budget of 0.1 % five hundred times too fast."""
    await put(AlertKind.ERROR_BUDGET_BURNING)
    minute = cell.clock.now().replace(second=0, microsecond=0)
    cell.level_counts.give_back([LevelRow(minute, ctx.tenant.id, Priority.NORMAL, in_time=50, late=50)])
    await Signaller(ctx.store, new_token()).once()
    await world.round(seconds=15)
    assert statuses(hook, "error_budget_burning") == ["firing"]
    assert "priority normal" in hook.got[-1]["reason"]
    await world.round(hours=80)
    assert statuses(hook, "error_budget_burning") == ["firing", "resolved"]
