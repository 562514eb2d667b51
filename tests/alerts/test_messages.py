"""Many deaths make one message, a channel that is down loses nothing, and nobody waits for another's channel."""

from datetime import timedelta

from structlog.testing import capture_logs

from horae.domain.alerts.alerts import MAX_GROUPS, AlertFilter
from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.rules import AlertRule
from horae.domain.alerts.silences import Silence
from horae.service.alerts import alerts, channels
from horae.service.context import Context, PlatformContext
from horae.service.tenants import tenants
from tests.alerts.world import FAILED, SECRET, a_channel, alert_world, alerts_of, die, hook_server, run_once
from tests.steps import a_job, move_clock, query

STATUS = "status"
DEAD_JOBS = "select count(distinct job_id)::int as jobs from instance_history where state = 'DEAD'"


def facts(hook):
    return [(one[STATUS], one["count"]) for one in hook.got]


async def test_a_dead_letter_is_told_within_a_round_and_resolved_when_it_stays_quiet(ctx, world, hook):
    await a_channel(ctx, hook)
    await world.round()
    await a_job(ctx)
    assert await run_once(ctx, FAILED) == 1
    await world.round()
    assert [(one["status"], one["kind"], one["job"]) for one in hook.got] == [("firing", "dead_letter", "job")]
    await world.round(seconds=290)
    assert len(hook.got) == 1
    await world.round(seconds=20)
    assert [one["status"] for one in hook.got] == ["firing", "resolved"]
    assert hook.got[0]["group_key"] == hook.got[1]["group_key"]


async def test_ten_thousand_deaths_of_one_target_make_one_message_in_five_minutes_and_one_resolved(ctx, world, hook):
    await a_channel(ctx, hook)
    await world.round()
    job = await a_job(ctx)
    for _ in range(20):
        await die(ctx, job, 500)
        await world.round(seconds=3)
    assert facts(hook) == [("firing", 500)]
    [row] = await alerts_of(ctx.store)
    assert row["count"] == 10_000
    await world.round(seconds=299)
    await world.round(seconds=2)
    assert facts(hook) == [("firing", 500), ("resolved", 10_000)]


async def test_a_channel_that_is_down_for_ten_minutes_gets_everything_in_order_under_constant_ids(ctx, world, hook):
    await a_channel(ctx, hook)
    await channels.put_rule(ctx, "deaths", AlertRule(kind=AlertKind.DEAD_LETTER, repeat_after=300))
    await world.round()
    first, second = await a_job(ctx, "first"), await a_job(ctx, "second")
    hook.down = True
    for minute in range(10):
        for job in (first, second) if minute < 3 else (first,):
            await die(ctx, job, 1)
        await world.round(seconds=60)
    assert hook.got == []
    assert hook.tried > 5
    written = await query(ctx.store, "select body ->> 'id' as id from alert_message order by created_at, alert_id")
    hook.down = False
    for _ in range(4):
        await world.round(seconds=60)
    await world.round(seconds=300)
    by_group = {}
    for one in hook.got:
        by_group.setdefault(one["job"], []).append(one["status"])
    assert by_group == {"first": ["firing", "firing", "firing", "resolved"], "second": ["firing", "firing", "resolved"]}
    assert {row["id"] for row in written} <= {one["id"] for one in hook.got}
    assert len({one["id"] for one in hook.got}) == len(hook.got)


async def test_a_message_whose_answer_was_lost_comes_again_under_the_same_id(ctx, world, hook):
    await a_channel(ctx, hook)
    await world.round()
    await die(ctx, await a_job(ctx), 1)
    await world.round()
    await query(ctx.store, "update alert_message set state = 'PENDING', sent_at = null, next_try_at = created_at")
    await world.round(seconds=5)
    assert len(hook.got) == 2
    assert hook.got[0]["id"] == hook.got[1]["id"]


async def test_one_tenants_broken_channel_does_not_delay_another_tenant(ctx, store, hook):
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=4096), "test")
    async with hook_server() as healthy, alert_world(store, ctx.tenant.id, other.tenant.id) as world:
        await a_channel(ctx, hook)
        await a_channel(other, healthy)
        hook.hangs = True
        await world.watch()
        await die(ctx, await a_job(ctx), 1)
        await die(other, await a_job(other), 1)
        await world.watch()
        await world.deliverer.once()
        assert [one["tenant"] for one in healthy.got] == ["globex"]
        assert hook.got == []


async def test_an_acknowledged_alert_is_not_repeated_and_its_end_is_told(ctx, world, hook):
    await a_channel(ctx, hook)
    await channels.put_rule(ctx, "deaths", AlertRule(kind=AlertKind.DEAD_LETTER, repeat_after=300))
    await world.round()
    job = await a_job(ctx)
    await die(ctx, job, 1)
    await world.round()
    [alert] = await alerts.page(ctx, AlertFilter(), None, 10)
    assert (await alerts.acknowledge(ctx, alert.id)).alert.acknowledged_by == "test"
    for _ in range(4):
        await die(ctx, job, 1)
        await world.round(seconds=200)
    assert facts(hook) == [("firing", 1)]
    await world.round(seconds=301)
    assert facts(hook) == [("firing", 1), ("resolved", 5)]


async def test_a_silence_keeps_the_rows_and_sends_nothing_until_it_ends(ctx, world, hook):
    await a_channel(ctx, hook)
    now = ctx.store.clock.now()
    quiet = Silence(starts_at=now, ends_at=now + timedelta(minutes=4), job="job", comment="maintenance")
    await channels.put_silence(ctx, "maintenance", quiet)
    await world.round()
    job = await a_job(ctx)
    await die(ctx, job, 1)
    await world.round(seconds=5)
    assert hook.got == []
    states = await query(ctx.store, "select state from alert_message")
    assert [row["state"] for row in states] == ["SILENCED"]
    await world.round(seconds=250)
    assert [one["status"] for one in hook.got] == ["firing"]


async def test_more_groups_than_a_rule_may_have_become_one(ctx, world, hook):
    """130 jobs over two cells: at least one cell has more groups than a rule may have in it."""
    await a_channel(ctx, hook)
    await world.round()
    for number in range(130):
        await die(ctx, await a_job(ctx, f"job-{number}"), 1)
    await world.watch()
    died = {cell.name: (await query(cell, DEAD_JOBS))[0]["jobs"] for cell in ctx.store.cells}
    assert max(died.values()) > MAX_GROUPS
    for cell in ctx.store.cells:
        rows = await query(cell, "select group_key, count from alert")
        own = [row for row in rows if row["group_key"] != "*"]
        assert len(own) == min(died[cell.name], MAX_GROUPS)
        assert len(rows) - len(own) == (died[cell.name] > MAX_GROUPS), "one more for all others"
        assert sum(row["count"] for row in rows) == died[cell.name]


async def test_a_channel_gets_twenty_messages_a_minute_and_the_others_after_it(ctx, world, hook):
    await a_channel(ctx, hook)
    await world.round()
    for number in range(30):
        await die(ctx, await a_job(ctx, f"job-{number}"), 1)
    await world.round()
    in_cells = {one["extra"]["cell"] for one in hook.got}
    assert len(hook.got) <= 20 * len(in_cells)
    await world.round(seconds=61)
    await world.round(seconds=61)
    assert len({one["group_key"] for one in hook.got}) == 30


async def test_secrets_and_answers_are_in_no_message_row_or_log_line(ctx, world, hook):
    await a_channel(ctx, hook)
    await world.round()
    await a_job(ctx)
    with capture_logs() as lines:
        await run_once(ctx, FAILED)
        hook.down = True
        await world.round()
        hook.down = False
        await world.round(seconds=10)
    assert hook.got
    rows = await query(ctx.store, "select to_jsonb(m)::text as text from alert_message m")
    rows += await query(ctx.store, "select to_jsonb(a)::text as text from alert a")
    text = str(hook.got) + str([row["text"] for row in rows]) + str(lines)
    assert "canary-of-the-answer" not in text
    assert SECRET.removeprefix("whsec_") not in text


async def test_a_cell_that_does_not_answer_stops_no_alert_of_the_other(ctx, world, hook, monkeypatch):
    await a_channel(ctx, hook)
    await world.round()
    jobs = [await a_job(ctx, f"job-{number}") for number in range(8)]
    down = ctx.store.cells[0]
    alive = next(job for job in jobs if ctx.store.cell(job.shard) is not down)
    await die(ctx, alive, 1)
    await move_clock(ctx.store, seconds=5)
    await down.close()
    await world.watcher.once()
    await world.deliverer.once()
    await world.deliverer.finish()
    assert [one["job"] for one in hook.got] == [alive.name]
