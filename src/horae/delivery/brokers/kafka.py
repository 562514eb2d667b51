"""Kafka as a sink. The producer is idempotent and gapless.

A partition gets the messages in order and once, or `send` fails. The library reports deliveries on a polling thread. A
batch ends when all of its messages have a report.
"""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Producer

from horae.delivery.brokers import ACK_TIMEOUT_S, Message
from horae.delivery.brokers.kafka_source import KafkaConsumer
from horae.domain.errors import Unavailable
from horae.runtime.settings import BrokerSettings
from horae.runtime.telemetry import log

__all__ = ["KafkaConsumer", "KafkaProducer"]
USUAL: Final[dict[str, Any]] = {
    "acks": "all",
    "enable.idempotence": True,
    "enable.gapless.guarantee": True,
    "message.timeout.ms": round(ACK_TIMEOUT_S * 1000),
    "linger.ms": 5,
    "compression.type": "lz4",
    "partitioner": "murmur2_random",  # Java's partitioner: other producers put the same key into the same partition
    "queue.buffering.max.messages": 1_000_000,
    "reconnect.backoff.max.ms": 1000,
    "topic.metadata.refresh.interval.ms": 10_000,
    "log_level": 2,
}
"""Settings of the producer; `options` of the deployment override them."""
POLL_TIMEOUT_S: Final = 0.2
"""Seconds that one call of the library's `poll` waits."""


class KafkaProducer:
    """One producer. It is replaced after a fatal error."""

    def __init__(self, settings: BrokerSettings) -> None:
        self._settings = {"bootstrap.servers": settings.url, **USUAL, **settings.options}
        self._producer: Producer | None = None
        self._polling: threading.Thread | None = None

    async def open(self) -> None:
        """Create the producer. It connects when it sends the first message."""
        self._make()

    async def send(self, topic: str, batch: Sequence[Message]) -> None:
        """Send a batch and wait until every message is acknowledged."""
        producer = self._producer or self._make()
        waiting = _Batch(len(batch), asyncio.get_running_loop())
        sent = 0
        try:
            for message in batch:
                headers: dict[str, str | bytes | None] = dict(message.headers)
                producer.produce(
                    topic, message.body, message.key.encode(), on_delivery=waiting.on_answer, headers=headers
                )
                sent += 1
        except (BufferError, KafkaException) as error:
            waiting.give_up(len(batch) - sent, str(error))
        try:
            await waiting.done
        except Unavailable:
            if waiting.fatal:
                self._drop(producer)
            raise

    async def close(self) -> None:
        """Close the producer. Messages without an acknowledgement are dropped: their sender sends them again."""
        producer, polling = self._producer, self._polling
        self._producer = None
        if producer is not None:
            producer.purge(in_queue=True, in_flight=True, blocking=False)
        if polling is not None:
            await asyncio.to_thread(polling.join)

    def _make(self) -> Producer:
        try:
            producer = Producer(self._settings)
        except KafkaException as error:
            raise Unavailable(f"Kafka cannot be used as configured: {error}") from error
        self._producer = producer
        self._polling = threading.Thread(target=self._poll, args=(producer,), daemon=True, name="kafka")
        self._polling.start()
        return producer

    def _poll(self, producer: Producer) -> None:
        while self._producer is producer or len(producer):
            producer.poll(POLL_TIMEOUT_S)

    def _drop(self, producer: Producer) -> None:
        if self._producer is producer:
            log.warning("kafka.producer_replaced")
            self._producer = None
            producer.purge(in_queue=True, in_flight=True, blocking=False)


class _Batch:
    """Waits for the reports of all messages: a retry of the batch must not overtake a message in flight."""

    def __init__(self, size: int, loop: asyncio.AbstractEventLoop) -> None:
        self.done: asyncio.Future[None] = loop.create_future()
        self.fatal = False
        self._left, self._loop, self._error = size, loop, ""
        self._lock = threading.Lock()
        if not size:
            self.done.set_result(None)

    def on_answer(self, error: KafkaError | None, _message: object) -> None:
        """Count one message that was acknowledged or has failed; called on the polling thread."""
        if error is not None:
            self.fatal = self.fatal or error.fatal() or error.code() == KafkaError._FATAL
            self._error = self._error or str(error)
        self._count(1)

    def give_up(self, number: int, error: str) -> None:
        """Count messages that the producer did not accept."""
        self._error = self._error or error
        self._count(number)

    def _count(self, number: int) -> None:
        with self._lock:
            self._left -= number
            last = not self._left
        if last:
            self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        if self.done.done():
            return  # the sender was cancelled meanwhile
        if self._error:
            self.done.set_exception(Unavailable(f"Kafka did not take all of it: {self._error}"))
        else:
            self.done.set_result(None)
