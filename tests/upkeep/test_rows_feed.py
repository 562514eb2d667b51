"""One tenant's sinks that never answer, or refuse, keep no other tenant's events waiting."""

import asyncio
from collections import Counter

import msgspec
import pytest

from horae.domain.errors import Unavailable
from horae.domain.events.channels import Broker, Subscription, TopicAddress
from horae.runtime import setbacks
from horae.service.context import Context, PlatformContext
from horae.service.events import subscriptions
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.upkeep import feed as feeding
from horae.upkeep import feed_rounds
from horae.upkeep.copies import Copier
from horae.upkeep.feed import Feed
from tests.steps import a_type

MANY, PAGE = 30, 3
REFUSED = 10
HUNG = 20
"""Subscriptions of the hostile tenant; each takes one event and never acknowledges it."""


class HalfDead:
    """A receiver that hears the tenant of one topic, and never answers the other."""

    def __init__(self):
        self.told, self.hanging = [], 0

    async def send(self, _channel, wanted, _owner, batch):
        if wanted.sink.topic == "acme.dead":
            self.hanging += 1
            await asyncio.Event().wait()
        self.told += [msgspec.json.decode(one.data)["data"]["key"] for one in batch]

    async def keep(self, _ids):
        pass


@pytest.fixture
async def victim(store):
    return Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=16), "test")


async def test_a_sink_that_never_answers_costs_another_tenants_pages_no_second_each(ctx, victim, store, monkeypatch):
    """A round would wait an hour for the slow: so every page that is told was told without waiting for them."""
    monkeypatch.setattr(feed_rounds, "ROUND_TIMEOUT_S", 3600.0)
    monkeypatch.setattr(feeding, "PAGE", PAGE)
    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    sink = HalfDead()
    for n in range(HUNG):
        await subscriptions.put(ctx, f"dead-{n}", Subscription(TopicAddress("main", "acme.dead"), ("TASK_*",)))
    await subscriptions.put(victim, "well", Subscription(TopicAddress("main", "globex.events"), ("TASK_*",)))
    await Copier(store).once()
    for owner, many in ((ctx, 1), (victim, MANY)):
        await a_type(owner, "PUBLISH")
        for n in range(many):
            await tasks.schedule(owner, "PUBLISH", f"k-{n}")
    feed = Feed(store, sink, store.shards_of)
    try:
        async with asyncio.timeout(60):
            while len(sink.told) < MANY:
                await feed.once()
    finally:
        await feed.close()
    assert sorted(sink.told) == sorted(f"k-{n}" for n in range(MANY))
    assert sink.hanging >= HUNG


class Refusing:
    """A receiver that refuses everything, and counts how often it was asked."""

    def __init__(self):
        self.tries = Counter()

    async def send(self, channel, _wanted, _owner, _batch):
        self.tries[channel.name] += 1
        raise Unavailable("the sink answered with 500")

    async def keep(self, _ids):
        pass


@pytest.fixture
async def refusing(ctx, store):
    """A feed with an event for ten subscriptions, all of them refused."""
    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    for n in range(REFUSED):
        await subscriptions.put(ctx, f"bad-{n}", Subscription(TopicAddress("main", "acme.bad"), ("TASK_*",)))
    await Copier(store).once()
    await a_type(ctx, "PUBLISH")
    await tasks.schedule(ctx, "PUBLISH", "k")
    sink = Refusing()
    feed = Feed(store, sink, store.shards_of)
    yield feed, sink
    await feed.close()


async def test_a_sink_that_refuses_is_not_tried_in_every_round(refusing, monkeypatch):
    monkeypatch.setattr(setbacks, "FIRST_PAUSE_S", 60.0)
    feed, sink = refusing
    for _ in range(5):
        await feed.once()
    assert sink.tries == {f"bad-{n}": 1 for n in range(REFUSED)}


async def test_a_refused_subscription_that_was_changed_is_tried_at_once(ctx, store, refusing, monkeypatch):
    monkeypatch.setattr(setbacks, "FIRST_PAUSE_S", 60.0)
    feed, sink = refusing
    await feed.once()
    await subscriptions.put(ctx, "bad-0", Subscription(TopicAddress("main", "acme.good"), ("TASK_*",)))
    await Copier(store).once()
    await feed.once()
    assert sink.tries == {f"bad-{n}": 2 if n == 0 else 1 for n in range(REFUSED)}
