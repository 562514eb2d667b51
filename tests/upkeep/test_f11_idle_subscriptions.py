"""F11: subscriptions to which nothing happens cost the feed nothing each: it looks once per cell for all of them."""

import pytest

from horae.domain.events.channels import Subscription, TopicAddress
from horae.domain.ids import shard_in
from horae.service.context import Context, PlatformContext
from horae.service.events import subscriptions
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.store.tx import Tx
from horae.upkeep.copies import Copier
from horae.upkeep.feed import Feed
from tests.events.test_feed import TOPIC, Inbox, drain
from tests.steps import a_type, query

MANY = 150
INSERT = """
insert into channel (shard_id, tenant_id, kind, name, id, body, changed_by, created_at, changed_at)
select $1, $2, 'subscription', 'idle-' || n, gen_random_uuid(),
       '{"sink": {"kind": "topic", "broker": "main", "topic": "acme.events"}}'::jsonb, 'test', now(), now()
from generate_series(1, $3) n
"""


@pytest.fixture
def statements(monkeypatch):
    """Every statement that is sent from now on."""
    sent = []
    for name in ("rows", "row", "value", "run"):
        original = getattr(Tx, name)
        monkeypatch.setattr(
            Tx, name, lambda tx, text, *args, original=original: sent.append(text) or original(tx, text, *args)
        )
    return sent


@pytest.fixture
async def idle(store, other_tenant):
    """A tenant with many subscriptions that nothing happens to."""
    shard = shard_in(other_tenant.id)
    home = store.cell(shard)
    await query(home, INSERT, shard, other_tenant.id, MANY)
    await Copier(store).once()
    return other_tenant


@pytest.fixture
async def other_tenant(store):
    return await tenants.create(PlatformContext(store, "test"), "quiet", width=16)


@pytest.fixture
def inbox():
    return Inbox()


@pytest.fixture
def feed(store, inbox):
    from horae.domain.events.channels import Broker

    store.brokers = {"main": Broker("kafka", ("*",))}
    return Feed(store, inbox, store.shards_of)


async def test_many_idle_subscriptions_cost_a_round_a_handful_of_statements(ctx, idle, feed, store, statements):
    await drain(feed)
    await a_type(ctx, "PUBLISH")  # another tenant is busy
    statements.clear()
    await drain(feed)
    assert 0 < len(statements) < MANY // 2


async def test_what_happens_to_one_of_many_quiet_tenants_is_told_at_the_next_round(ctx, idle, feed, inbox, store):
    await drain(feed)
    quiet = Context.of(store, idle, "test")
    await a_type(quiet, "WAKES")
    await Copier(store).once()
    await tasks.schedule(quiet, "WAKES", "a-1")
    await drain(feed)
    told = [one for one in inbox.told if one["data"]["event"] == "TASK_CREATED"]
    assert len(told) == MANY


async def test_a_quiet_subscription_that_is_replayed_is_told_again(ctx, feed, inbox, store):
    await subscriptions.put(ctx, "crm", Subscription(TOPIC))
    await Copier(store).once()
    await a_type(ctx, "PUBLISH")
    await drain(feed)
    await drain(feed)
    before = len(inbox.told)
    assert before
    await subscriptions.replay(ctx, "crm")
    await Copier(store).once()
    await drain(feed)
    assert len(inbox.told) > before


def test_a_topic_is_what_the_rows_of_this_test_say():
    assert TopicAddress("main", "acme.events") == TOPIC
