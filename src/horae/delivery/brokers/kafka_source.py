"""Kafka as a source: a member of a consumer group. It commits the offsets of messages that are `done`.

The library blocks the thread that calls it, so each source has a thread of its own. Many sources on the shared thread
pool would leave no thread for name lookups. One thread also runs one call at a time, which `close` needs.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeVar

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaException, Message, TopicPartition

from horae.delivery.brokers import BrokerMessage
from horae.domain.errors import Unavailable
from horae.runtime.settings import BrokerSettings

T = TypeVar("T")
QUERY_TIMEOUT_S: Final = 5.0
"""Seconds within which the broker must answer a query."""
FIRST: Final = -2
"""As a time in `offsets_for_times`: the first offset of a partition."""
END: Final = -1
"""As a time in `offsets_for_times`: the end of a partition. One request covers all partitions of a broker."""


class KafkaConsumer:
    """A member of a consumer group, on a thread of its own."""

    def __init__(self, settings: BrokerSettings, topic: str, group: str) -> None:
        required = {"bootstrap.servers": settings.url, "group.id": group, "enable.auto.commit": False}
        usual = {"auto.offset.reset": "earliest", "session.timeout.ms": 10_000, "log_level": 2}
        self._settings, self._topic = {**required, **usual, **settings.options}, topic
        self._consumer: Consumer | None = None
        self._asker: Consumer | None = None
        self._thread: ThreadPoolExecutor | None = None

    async def open(self) -> None:
        """Create the consumer. It connects by itself."""
        try:
            self._consumer = Consumer(self._settings)
            self._thread = ThreadPoolExecutor(1, "kafka-source")
            self._consumer.subscribe([self._topic])
        except KafkaException as error:
            raise Unavailable(f"Kafka cannot be used as configured: {error}") from error

    async def take(self, limit: int, seconds: float) -> list[BrokerMessage]:
        """Return up to `limit` messages; an empty list when none came within `seconds`."""
        assert self._consumer is not None
        found = await self._aside(_consume, self._consumer, limit, seconds)
        bad = next((error for one in found if (error := one.error()) is not None), None)
        if bad is not None:
            raise Unavailable(f"Kafka: {bad}")
        return [
            BrokerMessage(one.value() or b"", f"{one.topic()}/{one.partition()}/{one.offset()}", one) for one in found
        ]

    async def acknowledge(self, batch: Sequence[BrokerMessage]) -> None:
        """Commit the offset after the last message of each partition."""
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

    async def backlog(self) -> int:
        """Return how many messages follow the committed offsets of the group, in all partitions and for all members.

        It asks on a connection of its own. On the consumer's connection every answer waits about half a second for a
        fetch.
        """
        try:
            self._asker = self._asker or Consumer(self._settings)
            return await self._aside(_count_backlog, self._asker, self._topic)
        except KafkaException as error:
            raise Unavailable(f"Kafka does not say what waits in {self._topic!r}: {error}") from error

    async def close(self) -> None:
        """Leave the group; the group continues after the committed offsets."""
        consumers = [one for one in (self._asker, self._consumer) if one is not None]
        thread, self._asker, self._consumer = self._thread, None, None
        if thread is not None:
            left = [asyncio.wrap_future(thread.submit(one.close)) for one in consumers]
            thread.shutdown(wait=False)  # the thread ends after its queued work
            await asyncio.gather(*left)

    async def _aside(self, function: Callable[..., T], *args: Any, **named: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(function, *args, **named))


def _consume(consumer: Consumer, limit: int, seconds: float) -> list[Message]:
    """Wait for the first message only: the library's `consume` would wait for a full batch."""
    first = consumer.poll(seconds)
    return [] if first is None else [first, *(consumer.consume(limit - 1, 0) if limit > 1 else [])]


def _count_backlog(consumer: Consumer, topic: str) -> int:
    """Sum the distance from the committed offset to the end over all partitions.

    A partition without a committed offset, or with one that is no longer stored, counts from its first stored message.
    """
    about = consumer.list_topics(topic, timeout=QUERY_TIMEOUT_S).topics[topic]
    if about.error is not None:
        raise KafkaException(about.error)

    def asked(mark: int) -> list[TopicPartition]:
        return [TopicPartition(topic, number, mark) for number in about.partitions]

    first = _offsets(consumer.offsets_for_times(asked(FIRST), timeout=QUERY_TIMEOUT_S))
    end = _offsets(consumer.offsets_for_times(asked(END), timeout=QUERY_TIMEOUT_S))
    done = _offsets(consumer.committed(asked(OFFSET_INVALID), timeout=QUERY_TIMEOUT_S))
    return sum(max(0, end[number] - max(first[number], done[number])) for number in about.partitions)


def _offsets(offsets: Sequence[TopicPartition]) -> dict[int, int]:
    bad = next((one.error for one in offsets if one.error is not None), None)
    if bad is not None:
        raise KafkaException(bad)
    return {one.partition: one.offset for one in offsets}
