"""Each kind of rule is fired by a real fault in the rows, and resolved after it."""

import pytest

from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.rules import AlertRule
from horae.domain.instances.outcomes import Success
from horae.domain.schedules.misfire import Misfire, OnMisfire
from horae.domain.schedules.policies import Policies
from horae.service.alerts import channels
from tests.alerts.world import FAILED, a_channel, alerts_of, run_once
from tests.steps import a_job, every, move_clock, query


@pytest.fixture
async def told(ctx, world, hook):
    """Puts a rule, and returns what was told since."""
    await a_channel(ctx, hook)
    await world.round()

    async def put(kind, **facts):
        await channels.put_rule(ctx, "rule", AlertRule(kind=kind, **facts))
        await world.round()
        hook.got.clear()

    return put


def statuses(hook, kind):
    return [one["status"] for one in hook.got if one["kind"] == kind]


async def test_failures_in_a_row(ctx, world, hook, told):
    await told(AlertKind.FAILURES_IN_A_ROW, threshold=3)
    await a_job(ctx)
    for _ in range(2):
        await run_once(ctx, FAILED)
    await world.round()
    assert statuses(hook, "failures_in_a_row") == []
    await run_once(ctx, FAILED)
    await world.round()
    assert statuses(hook, "failures_in_a_row") == ["firing"]
    await world.round(seconds=50)
    await world.round(seconds=50)
    assert statuses(hook, "failures_in_a_row") == ["firing"]  # nothing ran since, so nothing is better
    await run_once(ctx, Success())
    await world.round()
    await world.round(seconds=70)
    assert statuses(hook, "failures_in_a_row") == ["firing", "resolved"]


async def test_fail_after_of_a_job_fires_without_a_rule(ctx, world, hook):
    await a_channel(ctx, hook)
    await a_channel(ctx, hook, "orders-oncall")
    await world.round()
    job = await a_job(ctx)
    people = {"fail_after": 2, "contacts": ["orders-oncall"], "owner": "orders"}
    await query(ctx.store, "update job set definition = definition || $2::jsonb where id = $1", job.id, people)
    await run_once(ctx, FAILED)
    await run_once(ctx, FAILED)
    await world.round()
    [row] = await alerts_of(ctx.store, "failures_in_a_row")
    assert (row["channels"], row["owner"]) == (["orders-oncall"], "orders")
    assert statuses(hook, "failures_in_a_row") == ["firing"]


async def test_late(ctx, world, hook, told):
    await told(AlertKind.LATE, threshold=90)
    await a_job(ctx, "job", every(ctx, 3600))
    await move_clock(ctx.store, seconds=3600)
    await world.round(seconds=60)
    assert statuses(hook, "late") == []
    await world.round(seconds=60)
    assert statuses(hook, "late") == ["firing"]  # nobody fires it
    await run_once(ctx, Success(), seconds=1)
    await world.round()
    await world.round(seconds=70)
    assert statuses(hook, "late") == ["firing", "resolved"]


async def test_missed(ctx, world, hook, told):
    await told(AlertKind.MISSED)
    await a_job(ctx, "job", every(ctx, 60), policies=Policies(misfire=Misfire(OnMisfire.SKIP)))
    await run_once(ctx, Success(), seconds=1200)
    await world.round()
    assert statuses(hook, "missed") == ["firing"]
    [row] = await alerts_of(ctx.store, "missed")
    assert row["count"] > 10
    await world.round(seconds=310)
    assert statuses(hook, "missed") == ["firing", "resolved"]


async def test_no_success(ctx, world, hook, told):
    await told(AlertKind.NO_SUCCESS, threshold=300, job="job")
    await a_job(ctx)
    for _ in range(6):
        await run_once(ctx, FAILED)
    await world.round()
    assert statuses(hook, "no_success") == ["firing"]
    await run_once(ctx, Success())
    await world.round()
    await world.round(seconds=70)
    assert statuses(hook, "no_success") == ["firing", "resolved"]
