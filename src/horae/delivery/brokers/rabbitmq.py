"""RabbitMQ: a topic is a queue, reached through the default exchange; what it has on disk is confirmed.

The connection is never mended by itself: what was lost with it could be overtaken by what came after it.
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

from horae.delivery.brokers import PATIENCE, Incoming, Message, waves
from horae.domain.errors import Unavailable
from horae.runtime.settings import BrokerSettings

CONNECT: Final = 5.0
DOWN: Final = (AMQPError, OSError, asyncio.TimeoutError, RuntimeError)  # RuntimeError: its connection is closing

Line = tuple[AbstractConnection, AbstractChannel]
MAX_ID_BYTES: Final = 255
PREFETCH: Final = 2000
MOMENT: Final = 0.02
GATHERING: Final = 0.3
"""Seconds within which a batch gathers, as long as something comes in every moment."""


async def _connected(settings: BrokerSettings, *, confirms: bool) -> Line:
    connection: AbstractConnection | None = None
    try:
        connection = await aio_pika.connect(settings.url, timeout=CONNECT)
        return connection, await connection.channel(publisher_confirms=confirms, on_return_raises=confirms)
    except DOWN as error:
        await _closed(connection)
        raise Unavailable(f"RabbitMQ is not reached: {error!r}") from error
    except BaseException:  # told to end: nobody else knows of it yet
        await _closed(connection)
        raise


async def _closed(connection: AbstractConnection | None) -> None:
    if connection is not None and not connection.is_closed:
        try:
            async with asyncio.timeout(CONNECT):
                await connection.close()
        except DOWN:
            pass


async def _answers(connection: AbstractConnection) -> None:
    """A round trip, or an error."""
    async with asyncio.timeout(CONNECT):
        await (await connection.channel()).close()


class Sink:
    """Publishes one message of a key at a time, by a connection that all tenants share."""

    def __init__(self, settings: BrokerSettings) -> None:
        self._settings = settings
        self._line: Line | None = None
        self._opening = asyncio.Lock()

    async def open(self) -> None:
        """Connect."""
        await self._connect()

    async def send(self, topic: str, batch: Sequence[Message]) -> None:
        """Send, and wait until all is confirmed. A queue that nobody declared refuses."""
        line = await self._connect()
        for wave in waves(batch):
            told = [_publish(line[1], topic, message) for message in wave]
            results = await asyncio.gather(*told, return_exceptions=True)
            failed = next((one for one in results if isinstance(one, BaseException)), None)
            if failed is not None:
                if not isinstance(failed, DeliveryError):  # that is the broker's own word about a message
                    await self._check(line)
                raise Unavailable(f"RabbitMQ did not take all of it: {failed!r}") from failed

    async def close(self) -> None:
        """Let go of the connection."""
        line, self._line = self._line, None
        await _closed(None if line is None else line[0])

    async def _connect(self) -> Line:
        async with self._opening:
            if self._line is None or self._line[0].is_closed or self._line[1].is_closed:
                await self.close()
                self._line = await _connected(self._settings, confirms=True)
            return self._line

    async def _check(self, line: Line) -> None:
        """Let go of a connection that no longer answers. A message that was refused says nothing about it."""
        try:
            await _answers(line[0])
        except DOWN:
            if self._line is line:  # else somebody has connected anew meanwhile
                self._line = None
            await _closed(line[0])


def _id_of(message: Message) -> str:
    """The id that tells duplicates; a digest of it where it is longer than AMQP allows."""
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
    await channel.default_exchange.publish(made, topic, mandatory=True, timeout=PATIENCE)


class Source:
    """Takes from a queue; whoever else takes from it gets what we do not.

    By the channel below aio-pika's: what that makes of each message (a task more, a dozen facts) costs as much again.
    """

    def __init__(self, settings: BrokerSettings, topic: str, group: str) -> None:
        self._settings, self._topic, self._group = settings, topic, group
        self._connection: AbstractConnection | None = None
        self._channel: Below | None = None
        self._came: asyncio.Queue[DeliveredMessage] = asyncio.Queue()
        self._given = True
        self._newest = self._acknowledged = 0

    async def open(self) -> None:
        """Connect and begin to be given what is in the queue."""
        self._connection, channel = await _connected(self._settings, confirms=False)
        self._came, self._given = asyncio.Queue(), True
        self._newest = self._acknowledged = 0
        try:
            self._channel = await channel.get_underlay_channel()
            self._channel.on_consumer_cancel_callbacks.add(self._no_more)
            await self._channel.basic_qos(prefetch_count=PREFETCH)
            await self._channel.queue_declare(self._topic, passive=True)
            await self._channel.basic_consume(self._topic, self._give)
        except DOWN as error:
            raise Unavailable(f"RabbitMQ has no queue {self._topic!r}, or is away: {error!r}") from error

    async def take(self, limit: int, seconds: float) -> list[Incoming]:
        """What waits now; nothing after so many seconds."""
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
        return [Incoming(one.body, f"{self._topic}/{one.delivery_tag}", one) for one in found]

    async def done(self, batch: Sequence[Incoming]) -> None:
        """They need not be given out again."""
        if not batch:
            return
        assert self._channel is not None
        last = batch[-1].handle.delivery_tag
        try:  # in the order they came: the last stands for all before it
            await self._channel.basic_ack(last, multiple=True)
        except DOWN as error:
            raise Unavailable(f"RabbitMQ is away: {error!r}") from error
        self._acknowledged = last

    async def waiting(self) -> int:
        """What is ready for anybody, and what we were given and have not acknowledged."""
        assert self._channel is not None
        try:  # shielded: given up half-way, the library would close the channel
            told = await asyncio.shield(self._channel.queue_declare(self._topic, passive=True, timeout=CONNECT))
        except DOWN as error:
            raise Unavailable(f"RabbitMQ has no queue {self._topic!r}, or is away: {error!r}") from error
        return (told.message_count or 0) + self._newest - self._acknowledged

    async def close(self) -> None:
        """What was not acknowledged is given out again, at once."""
        connection, self._connection, self._channel = self._connection, None, None
        await _closed(connection)

    async def _gather(self, limit: int) -> None:
        """Wait for what comes right behind: it is given one by one, and a batch costs a transaction however small."""
        loop, seen = asyncio.get_running_loop(), -1
        until = loop.time() + GATHERING
        while seen < self._came.qsize() < limit and loop.time() < until:
            seen = self._came.qsize()
            await asyncio.sleep(MOMENT)

    async def _give(self, message: DeliveredMessage) -> None:
        self._newest = message.delivery_tag or self._newest
        self._came.put_nowait(message)

    def _no_more(self, _frame: object) -> None:
        """The queue was deleted, or moved to another node: on this channel nothing would ever come again."""
        self._given = False
