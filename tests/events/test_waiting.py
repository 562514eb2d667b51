"""What lies in a topic and was not acknowledged, as each real broker counts it."""

import asyncio

import pytest

from horae.delivery.brokers import source_of
from horae.domain.errors import Unavailable
from tests.events.conftest import the
from tests.events.sending import send
from tests.steps import until

MESSAGES = 60


@pytest.fixture(params=["kafka", "nats", "rabbitmq"])
def broker(brokers, request):
    return the(brokers, request.param)


async def some(source):
    """What a source gives when it gives something: a member of a group is not given anything at once."""
    while not (found := await source.take(20, 1)):
        pass
    return found


async def test_what_waits_is_counted_until_it_is_acknowledged(broker):
    """While it lies there and while it is being worked on, also for whoever begins anew."""
    topic = broker.topic(f"waiting-{broker.kind}")
    await broker.declare(topic)
    await send(broker, topic, [b"?"] * MESSAGES, topic)
    source = source_of(broker.settings, topic, "test")
    await source.open()
    async with asyncio.timeout(60):
        assert await counts(source, MESSAGES)
        batch = await some(source)
        assert await source.backlog() == MESSAGES
        await source.acknowledge(batch)
        assert await counts(source, MESSAGES - len(batch))
        left = MESSAGES - len(batch) - len(await some(source))
        await source.close()
        assert 0 <= left < MESSAGES - len(batch)
        await source.open()
        assert await counts(source, MESSAGES - len(batch))
    await source.close()


async def counts(source, number):
    """What was acknowledged just now, or is just on its way to us, counts as soon as the broker knows."""

    async def so_many():
        return await source.backlog() == number

    await until(so_many)
    return True


async def test_asking_what_waits_holds_up_nobody_who_takes(broker):
    """Both at once; who gives up asking leaves the taking as it was."""
    topic = broker.topic(f"asked-{broker.kind}")
    await broker.declare(topic)
    await send(broker, topic, [b"?"] * MESSAGES, topic)
    source = source_of(broker.settings, topic, "test")
    await source.open()
    taken = 0
    async with asyncio.timeout(60):
        while taken < MESSAGES:
            asking = asyncio.create_task(source.backlog())
            given_up = asyncio.create_task(source.backlog())
            await asyncio.sleep(0)
            given_up.cancel()
            batch = await source.take(10, 1)
            await source.acknowledge(batch)
            taken += len(batch)
            assert 0 <= await asking <= MESSAGES
        assert await counts(source, 0)
    await source.close()


async def test_a_topic_that_is_not_there_is_said(kafka):
    source = source_of(kafka.settings, "acme.nowhere", "test")
    await source.open()
    with pytest.raises(Unavailable):
        await source.backlog()
    await source.close()
