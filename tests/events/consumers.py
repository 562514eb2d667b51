"""What a receiver finds at a broker, read from the beginning."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from tests.events.brokers import Broker
from tests.events.seen import Seen


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


@contextmanager
def kafka_listener(broker: Broker, topic: str) -> Iterator[Seen]:
    """Someone who hears what is told while it is told, until the end of the block, whatever becomes of the broker."""
    seen, enough = Seen(), threading.Event()
    thread = threading.Thread(target=_listen, args=(broker.url, topic, seen, enough), name="listener")
    thread.start()
    try:
        yield seen
    finally:
        enough.set()
        thread.join()


def _listen(url: str, topic: str, seen: Seen, enough: threading.Event) -> None:
    from confluent_kafka import Consumer

    told = {"bootstrap.servers": url, "group.id": f"listener-{topic}", "enable.auto.commit": False, "log_level": 2}
    consumer = Consumer({**told, "auto.offset.reset": "earliest", "topic.metadata.refresh.interval.ms": 500})
    consumer.subscribe([topic])
    try:
        while not enough.is_set():
            for message in consumer.consume(1000, timeout=0.2):
                if message.error() is None:  # a topic that is not there yet, a broker that is away
                    seen.add(msgspec.json.decode(message.value()))
    finally:
        consumer.close()
