"""A tenant that only a newer release can read stops no duty for the tenants behind it."""

from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from horae.domain.events.channels import Broker, Subscription, TopicAddress
from horae.domain.schedules.triggers import RollingTrigger
from horae.service.context import Context, PlatformContext
from horae.service.encryption import data_keys
from horae.service.events import subscriptions
from horae.service.tenants import tenants as tenancies
from horae.upkeep import key_rotation
from horae.upkeep.copies import Copier
from horae.upkeep.coverages import Coverer
from horae.upkeep.days import DayDropper
from horae.upkeep.key_rotation import Reencrypter
from tests.keyring import copied
from tests.steps import a_job, move_clock, query
from tests.upkeep.test_days import HELD, KEPT, midnight, past

__all__ = ["past"]
UNREADABLE = """
    update reference set body = jsonb_set(body, '{allowance}', '{"weight": 5000}') where kind = 'tenant' and id = $1"""

MISSED = "SUBSCRIPTION_MISSED_DAY"


@pytest.fixture
async def others(ctx, store):
    """Tenants before and behind the one whose allowance will be unreadable."""
    names = ("globex", "initech", "umbrella")
    return [
        Context.of(store, await tenancies.create(PlatformContext(store, "test"), name, width=4096), "test")
        for name in names
    ]


async def test_the_coverage_of_the_others_is_still_written(ctx, others, store):
    for one in (ctx, *others):
        await a_job(one, "STOCK", RollingTrigger(window=60, every=30, anchor=store.cells[0].clock.now()), width=16)
    await Copier(store).once()
    await query(store, UNREADABLE, ctx.tenant.id)
    with capture_logs() as logs:
        await Coverer(store, store.shards_of).once()
    written = {row["tenant_id"] for row in await query(store, "select tenant_id from coverage")}
    assert written == {one.tenant.id for one in others}
    assert [line["job"] for line in logs if line["event"] == "coverage.postponed"] == ["STOCK"]


async def test_the_payloads_of_the_others_are_encrypted_again(ctx, others, store, tmp_path):
    copied(tmp_path / "ring.json", store)
    for one in (ctx, *others):
        await data_keys.rotate(one)
    await move_clock(store, seconds=key_rotation.NEW_KEY_SETTLE_TIME.total_seconds() + 1)
    await query(store, UNREADABLE, ctx.tenant.id)
    await Reencrypter(store).once()
    unwalked = await query(store, "select distinct tenant_id from data_key where version = 2 and resealed_at is null")
    assert [row["tenant_id"] for row in unwalked] == [ctx.tenant.id]


async def test_the_others_hear_of_the_days_that_their_subscriptions_missed(ctx, others, store, past):
    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    for one in (ctx, *others):
        await subscriptions.put(one, "warehouse", Subscription(TopicAddress("main", f"{one.tenant.name}.events")))
    await Copier(store).once()
    await query(store, "update feed_position set at = $1, moved_at = $1", midnight(store.cells[0], 20))
    await query(store, UNREADABLE, ctx.tenant.id)
    with capture_logs() as logs:
        await DayDropper(store, KEPT, HELD - timedelta(days=2)).once()
    heard = {row["tenant_id"] for row in await query(store, "select tenant_id from outbox where event = $1", MISSED)}
    assert heard == {one.tenant.id for one in others}
    assert {line["tenant"] for line in logs if line["event"] == "days.missed_not_recorded"} == {ctx.tenant.id}
