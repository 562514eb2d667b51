"""What a receiver finds at a broker, read from the beginning."""

import time
from collections.abc import Iterator

import msgspec

from tests.events.brokers import Broker


def kafka_events(broker: Broker, topic: str, seconds: float = 60) -> Iterator[dict]:
    """Everything that lies in a topic now, in the order of each partition."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    consumer = Consumer(
        {"bootstrap.servers": broker.url, "group.id": "test", "enable.auto.commit": False, "log_level": 2}
    )
    try:
        partitions = consumer.list_topics(topic, timeout=20).topics[topic].partitions
        ends = {n: consumer.get_watermark_offsets(TopicPartition(topic, n), timeout=20)[1] for n in partitions}
        consumer.assign([TopicPartition(topic, n, OFFSET_BEGINNING) for n in partitions])
        left = {n: end for n, end in ends.items() if end}
        deadline = time.monotonic() + seconds
        while left:
            assert time.monotonic() < deadline, left
            for message in consumer.consume(1000, timeout=1):
                assert message.error() is None
                yield msgspec.json.decode(message.value())
                if message.offset() + 1 >= left.get(message.partition(), 1 << 60):
                    del left[message.partition()]
    finally:
        consumer.close()
