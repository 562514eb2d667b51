"""Intakes that are told to end while they are busy, and sources that end by themselves."""

import asyncio
from collections import Counter

import pytest

from horae.delivery.broker_connections import broker_rules
from horae.delivery.brokers import source_of
from horae.domain.errors import Unavailable
from horae.domain.events.channels import TopicAddress
from horae.domain.events.intakes import Intake
from horae.runtime import cancellation
from horae.service.events import intake_batches, intakes
from horae.upkeep.copies import Copier
from horae.upkeep.intakes import Intakes
from tests.events.sending import send
from tests.steps import until

SOURCES = 8
MESSAGES = 3000
ENDS_S = 60
"""Seconds after which one that was told once has not heard it: it is told no second time."""


@pytest.fixture
def taken(monkeypatch):
    """How many messages each intake took; nothing is made of them."""
    taken = Counter()

    async def noted(_ctx, standing, batch):
        taken[standing.channel.name] += len(batch)
        return intake_batches.IntakeResult(len(batch), 0)

    monkeypatch.setattr(intake_batches, "apply_batch", noted)
    return taken


async def test_all_intakes_end_at_once_in_the_middle_of_their_batches(ctx, store, broker, taken, monkeypatch):
    """A library that awaits its messages one by one swallowed two of three cancellations: the node stood still."""
    topic = broker.topic(f"endings-{broker.kind}")
    await broker.declare(topic)
    store.brokers = broker_rules({"main": broker.settings})
    for n in range(SOURCES):
        await intakes.put(ctx, f"in-{n}", Intake(TopicAddress("main", topic)))
    await Copier(store).once()
    await send(broker, topic, [b"?"] * MESSAGES, "ending")
    duty = Intakes(store, {"main": broker.settings}, store.shards_of)
    await duty.once()
    going = list(duty._going.values())
    await until(lambda: bool(taken), 60)
    monkeypatch.setattr(cancellation, "RECANCEL_INTERVAL_S", 3600.0)
    async with asyncio.timeout(ENDS_S):
        await duty.close()
    assert [task.done() for task in going] == [True] * SOURCES


async def test_a_queue_that_was_deleted_is_not_waited_for(rabbit):
    """RabbitMQ tells it once to whoever was given from it: he begins anew, and finds the one made in its place."""
    await rabbit.declare("acme.anew")
    source = source_of(rabbit.settings, "acme.anew", "test")
    await source.open()
    assert await source.take(10, 0.01) == []
    await rabbit.delete("acme.anew")
    with pytest.raises(Unavailable, match="no more"):
        await until(lambda: is_given(source))
    await source.close()


async def is_given(source):
    return bool(await source.take(10, 0.05))
