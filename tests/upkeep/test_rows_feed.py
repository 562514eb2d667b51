"""One tenant's sink that never answers keeps no other tenant's events waiting."""

import asyncio

import msgspec
import pytest

from horae.domain.channels import Broker, Subscription, Topic
from horae.service import subscriptions, tasks, tenants
from horae.service.context import Context
from horae.upkeep import feed as feeding
from horae.upkeep.copies import Copier
from horae.upkeep.feed import Feed
from tests.steps import a_type

MANY, PAGE = 30, 3
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
    return Context.of(store, await tenants.create(store, "globex", "test", width=16), "test")


async def test_a_sink_that_never_answers_costs_another_tenants_pages_no_second_each(ctx, victim, store, monkeypatch):
    """A round would wait an hour for the slow: so every page that is told was told without waiting for them."""
    monkeypatch.setattr(feeding, "WAIT", 3600.0)
    monkeypatch.setattr(feeding, "PAGE", PAGE)
    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    sink = HalfDead()
    for n in range(HUNG):
        await subscriptions.put(ctx, f"dead-{n}", Subscription(Topic("main", "acme.dead"), ("TASK_*",)))
    await subscriptions.put(victim, "well", Subscription(Topic("main", "globex.events"), ("TASK_*",)))
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
