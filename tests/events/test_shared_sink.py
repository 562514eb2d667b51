"""All tenants send to a broker by one connection: a message that it refuses is its sender's trouble alone."""

import asyncio

import pytest

from horae.delivery.broker_connections import Lines
from horae.delivery.brokers import Message
from horae.domain.errors import Unavailable
from horae.domain.events.channels import TopicAddress
from tests.events.conftest import the

MESSAGES = 400
"""Of one key: each waits until the one before it is stored, so that there is time to be disturbed."""


@pytest.fixture(params=["nats", "rabbitmq"])
def broker(brokers, request):
    return the(brokers, request.param)


@pytest.fixture
async def lines(broker):
    lines = Lines({"main": broker.settings})
    yield lines
    await lines.close()


async def refused_until(lines, done):
    """Send to a topic that nobody declared, again and again; returns how often it was refused."""
    refused = 0
    while not done():
        with pytest.raises(Unavailable):
            await lines.produce(TopicAddress("main", "acme.nothing"), [Message(f"a-{refused}", "k", b"{}", {})])
        refused += 1
    return refused


async def test_a_topic_that_is_not_there_disturbs_no_other_tenant(broker, lines):
    topic = f"globex.shared-{broker.kind}"
    await broker.declare(topic)
    page = [Message(f"b-{n}", "k", b"{}", {}) for n in range(MESSAGES)]
    sending = asyncio.create_task(lines.produce(TopicAddress("main", topic), page))
    assert await refused_until(lines, sending.done) > 1
    await sending


async def test_who_failed_on_a_connection_that_is_gone_leaves_the_new_one_alone(broker, lines):
    topic = f"globex.renewed-{broker.kind}"
    await broker.declare(topic)
    sink = await lines._sink("main")
    first = await sink._connect()
    await sink.close()
    second = await sink._connect()
    assert second is not first
    await sink._check(first)
    assert await sink._connect() is second
    await sink.send(topic, [Message("c-1", "k", b"{}", {})])


async def test_a_key_of_long_characters_reaches_every_broker(broker, lines):
    """RabbitMQ takes an id of 255 bytes at most; a business key has 200 characters of up to four."""
    topic = f"globex.long-{broker.kind}"
    await broker.declare(topic)
    key = "键" * 200
    await lines.produce(TopicAddress("main", topic), [Message(f"{key}:1", key, b"{}", {})])
