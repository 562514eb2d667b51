"""The measurement of a cell says how far its archive is behind, and why."""

from horae.domain.errors import Unavailable
from horae.domain.events.channels import Broker, Subscription, TopicAddress
from horae.domain.health.growth import LagReason, RetentionTerms
from horae.service.events import subscriptions
from horae.service.health import health
from horae.upkeep.archive import DayArchiver
from horae.upkeep.copies import Copier
from horae.upkeep.growth import GrowthMeter
from tests.archive.conftest import EXPIRY, KEPT
from tests.archive.history import day_of, insert_all_kinds, make_days
from tests.steps import query, until

TERMS = RetentionTerms(history=14, held=7, logs=3, dead_letters=90, ended_jobs=105, audit=180, archive=90)


async def lag_of(ctx, archiver):
    """What the measurement of the first cell says of its archive."""
    await GrowthMeter(archiver.store, 14, {}, TERMS, archiver).once()
    [one, _] = [each.growth for each in await health.growth_of(ctx)]
    assert one.terms == TERMS
    return one.lag


async def test_a_day_waits_for_the_next_round_for_a_subscription_or_for_the_archive(
    ctx, folder_target, store, monkeypatch
):
    await make_days(store, 3)
    cell, archiver = store.cells[0], DayArchiver(store, folder_target, KEPT, EXPIRY)
    assert await lag_of(ctx, archiver) is None, "no day has rows"
    await insert_all_kinds(cell, day_of(cell, 2), ctx.tenant.id)
    lag = await lag_of(ctx, archiver)
    assert (lag.days, lag.oldest, lag.reason) == (1, day_of(cell, 2).day, LagReason.DUE)
    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    await subscriptions.put(ctx, "orders", Subscription(TopicAddress("main", "acme.events"), ("TASK_*",)))
    await Copier(store).once()
    await query(cell, "update feed_position set at = now() - interval '9 days'")
    await archiver.once()
    lag = await lag_of(ctx, archiver)
    assert (lag.reason, lag.subscriptions) == (LagReason.UNREAD, ("orders",))

    async def away(_cell):
        raise Unavailable("the archive does not answer")

    monkeypatch.setattr(archiver, "_visit", away)
    await archiver.once()
    lag = await lag_of(ctx, archiver)
    assert (lag.reason, lag.failure) == (LagReason.FAILED, "the archive does not answer")
    monkeypatch.undo()
    await query(cell, "update feed_position set at = now()")

    async def is_archived():  # a cell that failed before is visited in the background
        await archiver.once()
        return await lag_of(ctx, archiver) is None

    await until(is_archived, 60)
    assert archiver.failures == {}
