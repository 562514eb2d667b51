"""RabbitMQ: a topic is a queue, reached through the default exchange. The broker confirms a message that is on disk.

A lost connection is not repaired by itself: a message that was lost with it could be overtaken by a later one.
"""

import asyncio
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

import aio_pika
from aio_pika.abc import AbstractChannel, AbstractConnection
from aio_pika.exceptions import AMQPError, DeliveryError
from aiormq.abc import AbstractChannel as Below
from aiormq.abc import DeliveredMessage

from horae.delivery.brokers import ACK_TIMEOUT_S, BrokerMessage, Message, waves
from horae.domain.errors import Unavailable
from horae.runtime.settings import BrokerSettings

CONNECT_TIMEOUT_S: Final = 5.0
"""Seconds for connecting, closing and one round trip."""
DOWN: Final = (AMQPError, OSError, asyncio.TimeoutError, RuntimeError)  # RuntimeError: the connection is closing

Line = tuple[AbstractConnection, AbstractChannel]
"""A connection and its channel."""
MAX_ID_BYTES: Final = 255
"""AMQP's limit for a message id."""
PREFETCH: Final = 2000
"""Unacknowledged messages that the broker sends ahead to one consumer."""
BATCH_CHECK_INTERVAL_S: Final = 0.02
"""Seconds between two looks for more messages of a batch."""
MAX_BATCH_WAIT_S: Final = 0.3
"""Seconds for which a batch waits for more messages, as long as some arrive in every `BATCH_CHECK_INTERVAL_S`."""


async def _open_connection(settings: BrokerSettings, *, confirms: bool) -> Line:
    connection: AbstractConnection | None = None
    try:
        connection = await aio_pika.connect(settings.url, timeout=CONNECT_TIMEOUT_S)
        return connection, await connection.channel(publisher_confirms=confirms, on_return_raises=confirms)
    except DOWN as error:
        await _close_quietly(connection)
        raise Unavailable(f"RabbitMQ is not reached: {error!r}") from error
    except BaseException:  # cancelled: no other code has this connection yet
        await _close_quietly(connection)
        raise


async def _close_quietly(connection: AbstractConnection | None) -> None:
    if connection is not None and not connection.is_closed:
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await connection.close()
        except DOWN:
            pass


async def _ping(connection: AbstractConnection) -> None:
    """Make a round trip; raises where the broker does not answer."""
    async with asyncio.timeout(CONNECT_TIMEOUT_S):
        await (await connection.channel()).close()


class RabbitPublisher:
    """Publishes one message of a key at a time, on one connection that all tenants share."""

    def __init__(self, settings: BrokerSettings) -> None:
        self._settings = settings
        self._line: Line | None = None
        self._opening = asyncio.Lock()

    async def open(self) -> None:
        """Connect."""
        await self._connect()

    async def send(self, topic: str, batch: Sequence[Message]) -> None:
        """Send a batch and wait until every message is confirmed. Fails where the queue was not declared."""
        line = await self._connect()
        for wave in waves(batch):
            sends = [_publish(line[1], topic, message) for message in wave]
            results = await asyncio.gather(*sends, return_exceptions=True)
            failed = next((one for one in results if isinstance(one, BaseException)), None)
            if failed is not None:
                if not isinstance(failed, DeliveryError):  # DeliveryError: the broker answers, and refuses the message
                    await self._check(line)
                raise Unavailable(f"RabbitMQ did not take all of it: {failed!r}") from failed

    async def close(self) -> None:
        """Close the connection."""
        line, self._line = self._line, None
        await _close_quietly(None if line is None else line[0])

    async def _connect(self) -> Line:
        async with self._opening:
            if self._line is None or self._line[0].is_closed or self._line[1].is_closed:
                await self.close()
                self._line = await _open_connection(self._settings, confirms=True)
            return self._line

    async def _check(self, line: Line) -> None:
        """Close a connection that no longer answers. A refused message alone is no reason to close it."""
        try:
            await _ping(line[0])
        except DOWN:
            if self._line is line:  # otherwise another caller has reconnected meanwhile
                self._line = None
            await _close_quietly(line[0])


def _id_of(message: Message) -> str:
    """Return the id for deduplication; its digest where it is longer than AMQP allows."""
    id_ = message.id.encode()
    return message.id if len(id_) <= MAX_ID_BYTES else sha256(id_).hexdigest()


async def _publish(channel: AbstractChannel, topic: str, message: Message) -> None:
    made = aio_pika.Message(
        message.body,
        headers={"key": message.key, **message.headers},
        content_type=message.headers.get("content-type"),
        message_id=_id_of(message),
        delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
    )
    await channel.default_exchange.publish(made, topic, mandatory=True, timeout=ACK_TIMEOUT_S)


class RabbitConsumer:
    """Takes from a queue, which it may share with other consumers.

    It uses the channel below aio-pika: aio-pika starts a task per message, which doubles the cost.
    """

    def __init__(self, settings: BrokerSettings, topic: str, group: str) -> None:
        self._settings, self._topic, self._group = settings, topic, group
        self._connection: AbstractConnection | None = None
        self._channel: Below | None = None
        self._came: asyncio.Queue[DeliveredMessage] = asyncio.Queue()
        self._given = True
        self._newest = self._acknowledged = 0

    async def open(self) -> None:
        """Connect and start to consume the queue."""
        self._connection, channel = await _open_connection(self._settings, confirms=False)
        self._came, self._given = asyncio.Queue(), True
        self._newest = self._acknowledged = 0
        try:
            self._channel = await channel.get_underlay_channel()
            self._channel.on_consumer_cancel_callbacks.add(self._on_cancel)
            await self._channel.basic_qos(prefetch_count=PREFETCH)
            await self._channel.queue_declare(self._topic, passive=True)
            await self._channel.basic_consume(self._topic, self._give)
        except DOWN as error:
            raise Unavailable(f"RabbitMQ has no queue {self._topic!r}, or is away: {error!r}") from error

    async def take(self, limit: int, seconds: float) -> list[BrokerMessage]:
        """Return up to `limit` messages; an empty list when none came within `seconds`."""
        if self._channel is None or self._channel.is_closed or self._connection is None or self._connection.is_closed:
            raise Unavailable("RabbitMQ is away")
        if not self._given:
            raise Unavailable(f"RabbitMQ gives out {self._topic!r} no more")
        try:
            async with asyncio.timeout(seconds):
                found = [await self._came.get()]
        except TimeoutError:
            return []
        await self._gather(limit - 1)
        while len(found) < limit and not self._came.empty():
            found.append(self._came.get_nowait())
        return [BrokerMessage(one.body, f"{self._topic}/{one.delivery_tag}", one) for one in found]

    async def acknowledge(self, batch: Sequence[BrokerMessage]) -> None:
        """Acknowledge messages, so that the broker does not deliver them again."""
        if not batch:
            return
        assert self._channel is not None
        last = batch[-1].handle.delivery_tag
        try:  # messages are done in their order: the last tag acknowledges all before it
            await self._channel.basic_ack(last, multiple=True)
        except DOWN as error:
            raise Unavailable(f"RabbitMQ is away: {error!r}") from error
        self._acknowledged = last

    async def backlog(self) -> int:
        """Return how many messages are ready in the queue or unacknowledged here."""
        assert self._channel is not None
        try:  # shielded: the library closes the channel when this call is cancelled
            declared = await asyncio.shield(
                self._channel.queue_declare(self._topic, passive=True, timeout=CONNECT_TIMEOUT_S)
            )
        except DOWN as error:
            raise Unavailable(f"RabbitMQ has no queue {self._topic!r}, or is away: {error!r}") from error
        return (declared.message_count or 0) + self._newest - self._acknowledged

    async def close(self) -> None:
        """Close the connection; the broker delivers unacknowledged messages again at once."""
        connection, self._connection, self._channel = self._connection, None, None
        await _close_quietly(connection)

    async def _gather(self, limit: int) -> None:
        """Wait for messages that follow at once: they arrive one by one, and every batch costs a transaction."""
        loop, seen = asyncio.get_running_loop(), -1
        until = loop.time() + MAX_BATCH_WAIT_S
        while seen < self._came.qsize() < limit and loop.time() < until:
            seen = self._came.qsize()
            await asyncio.sleep(BATCH_CHECK_INTERVAL_S)

    async def _give(self, message: DeliveredMessage) -> None:
        self._newest = message.delivery_tag or self._newest
        self._came.put_nowait(message)

    def _on_cancel(self, _frame: object) -> None:
        """The broker cancelled the consumer: its queue was deleted or moved, and this channel gets no more messages."""
        self._given = False
