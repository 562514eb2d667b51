"""Each cell knows how it grows: a node measures it, and keeps the last measurement there."""

from datetime import UTC, datetime, time, timedelta

from horae.domain.events.channels import Broker, Subscription, TopicAddress
from horae.service.events import subscriptions
from horae.service.health import health
from horae.store.databases import partitions
from horae.upkeep.copies import Copier
from horae.upkeep.growth import GrowthMeter
from tests.steps import query

ENDED = """
    insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, shard_id, priority,
                                  lane, id, tenant_id, job_id, state, idem_key)
    select $1, $1, $1, 1, 1, 0, 1, 1, 0, gen_random_uuid(), $2, gen_random_uuid(), 'SUCCESS', 'k'
    from generate_series(1, 1000)"""


def midnight(cell, ago):
    return datetime.combine((cell.clock.now() - timedelta(days=ago)).date(), time(), UTC)


async def measured(store, ctx, disks=None):
    assert await GrowthMeter(store, 14, disks or {}).once() == 0, "a loop would go on at once"
    return [one.growth for one in await health.growth_of(ctx)]


async def test_a_cell_knows_its_sizes_its_days_and_its_hot_tables(ctx, store):
    assert [one.growth for one in await health.growth_of(ctx)] == [None, None]
    cell = store.cells[0]
    await query(cell, ENDED, midnight(cell, 1), ctx.tenant.id)
    one, other = await measured(store, ctx, {cell.name: 10**12})
    assert one.database_bytes > one.bytes_per_day > 200_000
    assert (one.disk_bytes, other.disk_bytes, other.bytes_per_day) == (10**12, None, None)
    assert (one.oldest_day, one.days_ahead, one.kept_days) == (midnight(cell, 1).date(), 8, 14)
    assert {"instance_live", "job_cursor", "task_key", "dead_letter"} <= {table.name for table in one.tables}
    assert (one.held, one.days_until_full) == (None, None)


async def test_the_last_measurement_replaces_the_one_before(ctx, store):
    first = await measured(store, ctx)
    second = await measured(store, ctx)
    assert [then.measured_at < now.measured_at for then, now in zip(first, second, strict=True)] == [True, True]


async def test_a_subscription_that_holds_days_back_is_named(ctx, store):
    for cell in store.cells:
        async with cell.statement() as tx:
            await partitions.ensure(tx, midnight(cell, 20).date(), 20)
    assert [one.held for one in await measured(store, ctx)] == [None, None], "nobody needs them"
    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    await subscriptions.put(ctx, "orders", Subscription(TopicAddress("main", "acme.events"), ("TASK_*",)))
    await Copier(store).once()
    await query(store.cells[0], "update feed_position set at = now() - interval '30 days'")
    [held] = [one.held for one in await measured(store, ctx) if one.held]
    assert (held.subscriptions, held.unrelayed) == (("orders",), 0)
    assert held.oldest == midnight(store.cells[0], 20).date()
