"""What one tenant's rules, rows and channels do to alerts concerns that tenant alone."""

from datetime import timedelta

import asyncpg
import pytest
from structlog.testing import capture_logs

from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.rules import AlertRule
from horae.domain.alerts.silences import Silence
from horae.runtime import setbacks
from horae.service.alerts import channels
from horae.service.context import Context, PlatformContext
from horae.service.tenants import tenants
from horae.store.alerts import faults
from horae.upkeep import alert_faults
from horae.upkeep.copies import Copier
from tests.alerts.world import a_channel, alert_world, alerts_of, die
from tests.steps import a_job, every, move_clock, query

UNREADABLE_ALLOWANCE = """
    update reference set body = jsonb_set(body, '{allowance}', '{"weight": 5000}') where kind = 'tenant' and id = $1"""


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(setbacks, "FIRST_PAUSE_S", 0.0)


@pytest.fixture
async def other(store):
    return Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=4096), "test")


@pytest.fixture
async def both(ctx, other, hook):
    """The two duties, and two tenants with a channel."""
    async with alert_world(ctx.store, ctx.tenant.id, other.tenant.id) as world:
        for one in (ctx, other):
            await a_channel(one, hook)
        await world.round()
        yield world


def cut_for(monkeypatch, ctx, name):
    """The statement `name` of the faults takes too long for a tenant. Returns what ends that."""
    ask = getattr(faults, name)

    async def asked(tx, tenant_id, *args):
        if tenant_id == ctx.tenant.id:
            raise asyncpg.QueryCanceledError("canceling statement due to statement timeout")
        return await ask(tx, tenant_id, *args)

    monkeypatch.setattr(faults, name, asked)
    return lambda: monkeypatch.setattr(faults, name, ask)


async def opened(store):
    return {(row["tenant_id"], row["kind"]) for row in await alerts_of(store) if row["resolved_at"] is None}


async def test_a_rule_that_takes_too_long_delays_no_other_tenant(ctx, other, both, monkeypatch):
    await channels.put_rule(ctx, "slow", AlertRule(kind=AlertKind.NO_SUCCESS, threshold=60))
    cut_for(monkeypatch, ctx, "without_success")
    await die(other, await a_job(other), 1)
    with capture_logs() as logs:
        await both.round(seconds=15)
    assert await opened(ctx.store) == {(other.tenant.id, "dead_letter")}
    assert {line["tenant"] for line in logs if line["event"] == "alert.check_failed"} == {ctx.tenant.name}


async def test_the_dead_letters_of_the_tenant_with_the_slow_rule_open_alerts_too(ctx, both, monkeypatch):
    await channels.put_rule(ctx, "slow", AlertRule(kind=AlertKind.NO_SUCCESS, threshold=60))
    cut_for(monkeypatch, ctx, "without_success")
    await die(ctx, await a_job(ctx), 1)
    await both.round(seconds=15)
    assert await opened(ctx.store) == {(ctx.tenant.id, "dead_letter")}


async def test_rules_that_take_too_long_together_leave_out_their_tenant(ctx, other, both, monkeypatch):
    await channels.put_rule(ctx, "slow", AlertRule(kind=AlertKind.NO_SUCCESS, threshold=60))
    monkeypatch.setattr(alert_faults, "MAX_CHECKS_S", -1.0)
    await die(other, await a_job(other), 1)
    with capture_logs() as logs:
        await both.round(seconds=15)
    assert await opened(ctx.store) == {(other.tenant.id, "dead_letter")}
    assert {line["tenant"] for line in logs if line["event"] == "alert.check_failed"} == {ctx.tenant.name}


async def test_an_alert_stays_open_while_its_rule_cannot_be_checked(ctx, both, monkeypatch):
    await channels.put_rule(ctx, "slow", AlertRule(kind=AlertKind.NO_SUCCESS, threshold=60))
    await a_job(ctx, "job", every(ctx, 3600))
    await both.round(seconds=90)
    assert await opened(ctx.store) == {(ctx.tenant.id, "no_success")}
    repair = cut_for(monkeypatch, ctx, "without_success")
    for _ in range(3):
        await both.round(seconds=100)
    assert await opened(ctx.store) == {(ctx.tenant.id, "no_success")}
    repair()
    await channels.put_rule(ctx, "slow", AlertRule(kind=AlertKind.NO_SUCCESS, threshold=1e6))
    await both.round(seconds=100)
    assert await opened(ctx.store) == set()


async def test_failures_in_a_row_that_take_too_long_to_count_delay_no_other_tenant(ctx, other, both, monkeypatch):
    for one in (ctx, other):
        await channels.put_rule(one, "row", AlertRule(kind=AlertKind.FAILURES_IN_A_ROW, threshold=1))
    mine, theirs = await a_job(ctx), await a_job(other)
    ask = faults.failing

    async def asked(tx, counts):
        if mine.id in counts:
            raise asyncpg.QueryCanceledError("canceling statement due to statement timeout")
        return await ask(tx, counts)

    monkeypatch.setattr(faults, "failing", asked)
    await die(ctx, mine, 2)
    await die(other, theirs, 2)
    await both.round(seconds=15)
    assert await opened(ctx.store) == {
        (ctx.tenant.id, "dead_letter"),
        (other.tenant.id, "dead_letter"),
        (other.tenant.id, "failures_in_a_row"),
    }


@pytest.mark.parametrize("statement", ["overdue", "stopped_targets"])
async def test_a_statement_about_all_tenants_that_takes_too_long_delays_no_dead_letter(
    ctx, both, monkeypatch, statement
):
    async def cut(*_):
        raise asyncpg.QueryCanceledError("canceling statement due to statement timeout")

    monkeypatch.setattr(faults, statement, cut)
    await die(ctx, await a_job(ctx), 1)
    await both.round(seconds=15)
    assert await opened(ctx.store) == {(ctx.tenant.id, "dead_letter")}


UNREADABLE_ROWS = {
    "silence": "update channel set body = jsonb_set(body, '{kinds}', '[\"of_tomorrow\"]') where kind = 'silence'",
    "long silence": "update channel set body = jsonb_set(body, '{ends_at}', '\"2999-01-01T00:00:00Z\"') "
    "where kind = 'silence'",
    "rule": "update channel set body = jsonb_set(body, '{threshold}', '-1') where kind = 'alert_rule'",
    "alert": "update alert set kind = 'of_tomorrow'",
    "job": "update job set definition = jsonb_set(definition, '{late_after}', '\"soon\"') where name = 'old'",
}


@pytest.mark.parametrize("row", UNREADABLE_ROWS)
async def test_a_row_that_only_a_newer_release_can_read_delays_no_other_tenant(ctx, other, both, row):
    now = ctx.store.clock.now()
    quiet = Silence(starts_at=now, ends_at=now + timedelta(hours=1), job="another", comment="maintenance")
    await channels.put_silence(ctx, "quiet", quiet)
    await channels.put_rule(ctx, "rule", AlertRule(kind=AlertKind.NO_SUCCESS, threshold=3600))
    old = await a_job(ctx, "old")
    await die(ctx, old, 1)
    await both.round(seconds=15)
    await Copier(ctx.store).once()
    await query(ctx.store, UNREADABLE_ROWS[row])
    await die(ctx, old, 1)
    await die(other, await a_job(other), 1)
    await both.round(seconds=15)
    assert (other.tenant.id, "dead_letter") in await opened(ctx.store)
    await move_clock(ctx.store, seconds=600)
    await both.round()
    resolved = {row["tenant_id"] for row in await alerts_of(ctx.store) if row["resolved_at"] is not None}
    assert other.tenant.id in resolved


async def test_a_span_that_takes_too_long_is_read_in_shorter_ones(ctx, both, monkeypatch):
    ask, spans = faults.ended, []

    async def asked(tx, span, *args):
        spans.append(span[1] - span[0])
        if spans[-1] > 1000:
            raise asyncpg.QueryCanceledError("canceling statement due to statement timeout")
        return await ask(tx, span, *args)

    monkeypatch.setattr(faults, "ended", asked)
    await die(ctx, await a_job(ctx), 1)
    before = await query(ctx.store, "update alert_position set xid = xid - 5000 returning xid")
    for _ in range(20):
        await both.round(minutes=10)
    after = await query(ctx.store, "select xid from alert_position")
    assert all(new["xid"] >= old["xid"] + 5000 for old, new in zip(before, after, strict=True))
    assert [(row["kind"], row["count"]) for row in await alerts_of(ctx.store)] == [("dead_letter", 1)]


async def test_a_channel_is_not_called_while_the_egress_rules_of_its_tenant_are_unknown(ctx, both, hook):
    await die(ctx, await a_job(ctx), 1)
    await query(ctx.store, UNREADABLE_ALLOWANCE, ctx.tenant.id)
    await both.round(seconds=15)
    assert hook.tried == 0
    [message] = await query(ctx.store, "select state, error from alert_message")
    assert message["state"] == "PENDING"
    assert "egress" in message["error"]
    await query(ctx.store, "update reference set body = body - 'allowance' where id = $1", ctx.tenant.id)
    await both.round(seconds=15)
    assert [one["status"] for one in hook.got] == ["firing"]


OPEN = """
insert into alert (id, tenant_id, rule, kind, severity, group_key, reason, count, adds, channels, repeat_after,
                   resolve_after, opened_at, last_seen_at, next_message_at, labels)
select gen_random_uuid(), $1, 'default:dead_letter', 'dead_letter', 'critical', 'group-' || n, 'dead letters', 1, true,
       '{default}', 3600, 300, $2, $2, $2, '{}'
from generate_series(1, $3) as n
"""


async def test_the_alerts_of_a_tenant_without_a_channel_take_no_place_from_the_others(ctx, other, both, hook):
    await channels.remove_channel(ctx, "default")
    await Copier(ctx.store).once()
    await query(ctx.store, OPEN, ctx.tenant.id, ctx.store.clock.now(), 1000)
    await die(other, await a_job(other), 1)
    await both.round(seconds=15)
    assert [(one["tenant"], one["kind"]) for one in hook.got] == [("globex", "dead_letter")]
