"""Kinds of rules about the platform. They need no setup but a channel of the tenant `system`."""

from datetime import timedelta

import pytest

from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.rules import AlertRule
from horae.domain.health.signals import AttemptResult
from horae.domain.instances.instances import Lane, Priority
from horae.runtime.randomness import new_token
from horae.service.alerts import channels
from horae.store.databases import clock
from horae.upkeep.signals import Signaller
from tests.alerts.test_rule_kinds import statuses
from tests.alerts.world import a_channel, alert_world, alerts_of, the_system
from tests.steps import query

NODE = "insert into node (started_at, seen_at, expires_at, incarnation, name) values ($1, $1, $2, $3, 'node-7')"
ARCHIVED = "insert into archived_day (day, archive_id, closing_xid, state) values ($1, $2, 1, 'CLOSING')"


@pytest.fixture
async def system(store, hook):
    ctx = await the_system(store)
    await a_channel(ctx, hook)
    return ctx


@pytest.fixture
async def world(store, system):
    async with alert_world(store, system.tenant.id) as world:
        await world.round()
        yield world


async def test_cell_down(store, world, hook, monkeypatch):
    down = store.cells[0]
    down.reach.mark_down(ConnectionRefusedError("refused"))
    monkeypatch.setattr(down.reach, "_down_at", down.reach._down_at - 60)
    monkeypatch.setattr(world.watcher, "_mine", lambda cell: cell is not down)
    await _round_without(world, store, down)
    assert statuses(hook, "cell_down") == ["firing"]
    assert "cell-0" in hook.got[0]["reason"]
    monkeypatch.undo()
    await world.round(seconds=70)
    assert statuses(hook, "cell_down") == ["firing", "resolved"]


async def _round_without(world, store, down):
    """A round in the other cell, 15 s later."""
    [other] = [cell for cell in store.cells if cell is not down]
    async with other.tx() as tx:
        await clock.move(tx, timedelta(seconds=15))
    await other.sync_clock()
    await world.watch()
    await world.deliverer._visit(other)
    await world.deliverer.finish()


async def test_node_stuck(store, world, hook):
    cell = store.cells[1]
    now, node = cell.clock.now(), new_token()
    await query(cell, NODE, now, now + timedelta(seconds=5), node)
    await world.round(seconds=15)
    assert statuses(hook, "node_stuck") == ["firing"]
    assert "node-7" in hook.got[0]["reason"]
    await query(cell, "update node set expires_at = expires_at + interval '1 hour' where incarnation = $1", node)
    await world.round(seconds=70)
    assert statuses(hook, "node_stuck") == ["firing", "resolved"]


async def test_late_fires_name_their_cause_to_the_platform_and_not_to_a_tenant(ctx, store, system, world, hook):
    await a_channel(ctx, hook)
    await channels.put_rule(ctx, "late", AlertRule(kind=AlertKind.TRIGGER_DELAY_P95))
    cell = store.cells[0]
    cell.signal_counts.count_delays(ctx.tenant.id, Priority.NORMAL, Lane.FIRST, *[4000] * 50)
    cell.signal_counts.count_result(ctx.tenant.id, Priority.NORMAL, Lane.FIRST, AttemptResult.SUCCESS, 50)
    await Signaller(store, new_token()).once()
    await world.round(seconds=15)
    reasons = {one["tenant_id"]: one["reason"] for one in await alerts_of(store, "trigger_delay_p95")}
    cause = f"the tenant {ctx.tenant.name} has far more fires than usual"
    assert reasons.keys() == {system.tenant.id, ctx.tenant.id}
    assert cause in reasons[system.tenant.id]
    assert cause not in reasons[ctx.tenant.id]


async def test_clock_untrusted(store, world, hook):
    cell = store.cells[1]
    async with cell.tx() as tx:
        await clock.doubt(tx, timedelta(hours=3))
    await world.round(seconds=15)
    assert statuses(hook, "clock_untrusted") == ["firing"]
    async with cell.tx() as tx:
        await clock.doubt(tx, None)
    await world.round(seconds=70)
    assert statuses(hook, "clock_untrusted") == ["firing", "resolved"]


async def test_partition_missing(store, world, hook):
    cell = store.cells[1]
    days = await query(cell, "select count(*) as days from pg_inherits where inhparent = 'instance_history'::regclass")
    await world.round(days=days[0]["days"] + 1)  # nobody made new days meanwhile
    assert statuses(hook, "partition_missing") == ["firing", "firing"]  # of each cell
    for one in store.cells:
        async with one.statement() as tx:
            await tx.run("select ensure_partitions($1::date, 5)", tx.now.date())
    await world.round(seconds=70)
    assert sorted(statuses(hook, "partition_missing")) == ["firing", "firing", "resolved", "resolved"]


async def test_archive_behind(store, world, hook):
    cell = store.cells[1]
    await query(cell, ARCHIVED, cell.clock.now().date(), new_token())
    await world.round(days=4)
    assert statuses(hook, "archive_behind") == ["firing"]
    await query(cell, "delete from archived_day")
    await world.round(seconds=70)
    assert statuses(hook, "archive_behind") == ["firing", "resolved"]
