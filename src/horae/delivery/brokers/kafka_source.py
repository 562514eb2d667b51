"""Kafka, taken from: a member of a consumer group, whose offsets are committed when what they stand for is dealt with.

Its library waits on the thread that calls it. Each source has one of its own: many would fill the threads that all
share, and names would no longer be resolved. One at a time is also all that a consumer may be asked while it closes.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeVar

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaException, Message, TopicPartition

from horae.delivery.brokers import Incoming
from horae.domain.errors import Unavailable
from horae.runtime.settings import BrokerSettings

T = TypeVar("T")
ANSWER: Final = 5.0
FIRST: Final = -2
END: Final = -1
"""Asked for as times, these are the ends of a partition, in one question for all partitions of a broker."""


class Source:
    """A member of a consumer group, on a thread of its own."""

    def __init__(self, settings: BrokerSettings, topic: str, group: str) -> None:
        told = {"bootstrap.servers": settings.url, "group.id": group, "enable.auto.commit": False}
        usual = {"auto.offset.reset": "earliest", "session.timeout.ms": 10_000, "log_level": 2}
        self._settings, self._topic = {**told, **usual, **settings.options}, topic
        self._consumer: Consumer | None = None
        self._asker: Consumer | None = None
        self._thread: ThreadPoolExecutor | None = None

    async def open(self) -> None:
        """The consumer connects by itself."""
        try:
            self._consumer = Consumer(self._settings)
            self._thread = ThreadPoolExecutor(1, "kafka-source")
            self._consumer.subscribe([self._topic])
        except KafkaException as error:
            raise Unavailable(f"Kafka cannot be used as configured: {error}") from error

    async def take(self, limit: int, seconds: float) -> list[Incoming]:
        """What waits now; nothing after so many seconds."""
        assert self._consumer is not None
        found = await self._aside(_found, self._consumer, limit, seconds)
        bad = next((error for one in found if (error := one.error()) is not None), None)
        if bad is not None:
            raise Unavailable(f"Kafka: {bad}")
        return [Incoming(one.value() or b"", f"{one.topic()}/{one.partition()}/{one.offset()}", one) for one in found]

    async def done(self, batch: Sequence[Incoming]) -> None:
        """Commit behind the last of each partition."""
        assert self._consumer is not None
        ends: dict[int, int] = {}
        for one in batch:
            ends[one.handle.partition()] = one.handle.offset() + 1
        offsets = [TopicPartition(self._topic, partition, offset) for partition, offset in ends.items()]
        try:
            if offsets:
                await self._aside(self._consumer.commit, offsets=offsets, asynchronous=False)
        except KafkaException as error:
            raise Unavailable(f"Kafka did not take the offsets: {error}") from error

    async def waiting(self) -> int:
        """What lies behind the offsets of the group, in all partitions, whoever of the group has them.

        Asked on a connection of its own: behind a fetch that waits for messages each answer would take half a second.
        """
        try:
            self._asker = self._asker or Consumer(self._settings)
            return await self._aside(_behind, self._asker, self._topic)
        except KafkaException as error:
            raise Unavailable(f"Kafka does not say what waits in {self._topic!r}: {error}") from error

    async def close(self) -> None:
        """Leave the group; it goes on behind what was committed."""
        consumers = [one for one in (self._asker, self._consumer) if one is not None]
        thread, self._asker, self._consumer = self._thread, None, None
        if thread is not None:
            left = [asyncio.wrap_future(thread.submit(one.close)) for one in consumers]
            thread.shutdown(wait=False)  # it ends behind what it was given
            await asyncio.gather(*left)

    async def _aside(self, function: Callable[..., T], *args: Any, **named: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(function, *args, **named))


def _found(consumer: Consumer, limit: int, seconds: float) -> list[Message]:
    """The library would wait for all of a batch: only its first is worth waiting for."""
    first = consumer.poll(seconds)
    return [] if first is None else [first, *(consumer.consume(limit - 1, 0) if limit > 1 else [])]


def _behind(consumer: Consumer, topic: str) -> int:
    """Where nothing was committed yet, or it is no longer held, it begins with the first that is held."""
    about = consumer.list_topics(topic, timeout=ANSWER).topics[topic]
    if about.error is not None:
        raise KafkaException(about.error)

    def asked(mark: int) -> list[TopicPartition]:
        return [TopicPartition(topic, number, mark) for number in about.partitions]

    first = _offsets(consumer.offsets_for_times(asked(FIRST), timeout=ANSWER))
    end = _offsets(consumer.offsets_for_times(asked(END), timeout=ANSWER))
    done = _offsets(consumer.committed(asked(OFFSET_INVALID), timeout=ANSWER))
    return sum(max(0, end[number] - max(first[number], done[number])) for number in about.partitions)


def _offsets(told: Sequence[TopicPartition]) -> dict[int, int]:
    bad = next((one.error for one in told if one.error is not None), None)
    if bad is not None:
        raise KafkaException(bad)
    return {one.partition: one.offset for one in told}
