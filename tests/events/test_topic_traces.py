"""The trace of a caller goes on in the header of a message, at every kind of broker."""

import asyncio
from contextlib import suppress
from uuid import uuid4

import pytest

from horae.delivery.broker_connections import broker_rules
from horae.delivery.brokers import source_of
from horae.domain.errors import Unavailable
from horae.domain.targets.targets import TopicTarget
from horae.security.roles import Role
from horae.service.identity import api_keys
from horae.upkeep.copies import Copier
from tests.otlp import collecting
from tests.steps import a_type, until
from tests.traced import as_target, deployment, follow_back, is_settled, own_spans, put, settings_of, span_of_caller

LONG = 60.0


@pytest.fixture
def collector():
    with collecting() as collector:
        yield collector


def header_of(kind, handle):
    """The `traceparent` of a message, read with the library of its broker."""
    if kind == "kafka":
        return dict(handle.headers())["traceparent"].decode()
    if kind == "rocketmq":
        return str(handle.user_properties["traceparent"])
    return str((handle.headers if kind == "nats" else handle.header.properties.headers)["traceparent"])


async def first_message(broker, topic):
    source = source_of(broker.settings, topic, "test")
    await source.open()
    try:
        batch = []
        async with asyncio.timeout(LONG):
            while not batch:
                with suppress(Unavailable):  # Kafka makes the topic with its first message
                    batch = await source.take(1, 1)
        await source.acknowledge(batch)
        return batch[0].handle
    finally:
        await source.close()


async def test_a_trace_leads_from_the_caller_to_the_reader_of_a_topic(ctx, store, cells, broker, collector):
    own, topic = own_spans(), broker.topic(f"traced-{uuid4().hex}")  # a broker keeps what another try of this test said
    await broker.declare(topic)
    store.brokers = broker_rules({"main": broker.settings})
    await a_type(ctx, "TOLD", target=TopicTarget("main", topic))
    await Copier(store).once()
    key = (await api_keys.create(ctx, "admin", [Role.ADMIN])).text
    caller, context = span_of_caller(own)
    async with deployment(settings_of(collector, cells, brokers={"main": broker.settings}), store) as url:
        await put(url, key, "/tasks/TOLD/a-1", context)
        target = as_target(own, header_of(broker.kind, await first_message(broker, topic)))
        # A new topic may refuse its first messages: of several attempts it is the one whose message was read.
        await until(lambda: is_settled(collector, target), LONG)
    assert follow_back(collector, target, caller)[1:] == ["fire TOLD", "attempt TOLD"]
