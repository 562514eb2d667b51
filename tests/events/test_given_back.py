"""What a source took and did not acknowledge, and many sources at once."""

import asyncio
import socket
import threading

from horae.delivery.brokers import source_of
from tests.events.sending import send

MESSAGES = 20
SOON = 15
"""Seconds: less than the time after which NATS gives out by itself what was not acknowledged."""
SOURCES = 20


async def test_what_was_not_acknowledged_is_given_out_again_at_once(broker):
    """By whoever closes after a batch that failed; what was acknowledged stays so."""
    topic = broker.topic(f"back-{broker.kind}")
    await broker.declare(topic)
    await send(broker, topic, [f"{n}".encode() for n in range(MESSAGES)], "back")
    first = source_of(broker.settings, topic, "test")
    await first.open()
    done = await taken(first, 1)
    await first.acknowledge(done)
    failed = await taken(first, 1)
    await first.close()
    second = source_of(broker.settings, topic, "test")
    await second.open()
    async with asyncio.timeout(SOON):
        again = await taken(second, MESSAGES - len(done))
    await second.acknowledge(again)
    await second.close()
    assert {one.body for one in failed} <= {one.body for one in again}
    assert {one.body for one in done}.isdisjoint(one.body for one in again)


async def taken(source, number):
    """At least so many, of batches of five."""
    found = []
    while len(found) < number:
        found += await source.take(5, 1)
    return found


async def test_many_sources_of_kafka_leave_the_shared_threads_to_others(kafka):
    """Each waits on its own: a name is resolved at once, however many wait for messages."""
    sources = [source_of(kafka.settings, f"acme.idle-{n}", "test") for n in range(SOURCES)]
    for one in sources:
        await one.open()
    gate = threading.Event()
    waits = [asyncio.create_task(one._aside(gate.wait, 60)) for one in sources]
    try:
        async with asyncio.timeout(SOON):
            await asyncio.to_thread(socket.getaddrinfo, "localhost", None)
        assert not any(one.done() for one in waits)
    finally:
        gate.set()
        await asyncio.gather(*waits)
        await asyncio.gather(*(one.close() for one in sources))
