"""NATS JetStream. A stream of the deployment covers the subjects; what it has stored is acknowledged.

The client never reconnects by itself: what was lost with a connection could be overtaken by what came after it. A new
connection begins with whoever sends, or takes, next.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error
from nats.js.api import ConsumerConfig
from nats.js.client import JetStreamContext

from horae.delivery.brokers import PATIENCE, Incoming, Message, waves
from horae.domain.errors import Unavailable
from horae.runtime.settings import BrokerSettings

CONNECT: Final = 5
DOWN: Final = (Error, OSError, asyncio.TimeoutError)
UNACKED: Final = 30.0
"""Seconds after which what was taken and not acknowledged is given out again."""


async def _connected(settings: BrokerSettings) -> Client:
    async def quiet(_error: Exception) -> None:
        """Whoever waits hears of it himself."""

    once = {"allow_reconnect": False, "max_reconnect_attempts": 1, "reconnect_time_wait": 0.1}
    options: dict[str, Any] = {**once, "connect_timeout": CONNECT, "error_cb": quiet, **settings.options}
    try:
        async with asyncio.timeout(2 * CONNECT):
            return await nats.connect(settings.url.split(","), **options)
    except DOWN as error:
        raise Unavailable(f"NATS is not reached: {error!r}") from error


async def _closed(client: Client | None) -> None:
    """Whoever lets go of a connection is not held up by it."""
    if client is not None and not client.is_closed:
        with suppress(*DOWN):
            async with asyncio.timeout(CONNECT):
                await client.close()


async def _answers(client: Client | None) -> None:
    """A round trip, or an error: to the library a server that is silent is one that has nothing, for six minutes.

    Not given up half-way: its reader would die of an answer that nobody waits for any more.
    """
    assert client is not None
    await asyncio.shield(client.rtt(CONNECT))


class Sink:
    """Publishes one message of a key at a time, by a connection that all tenants share."""

    def __init__(self, settings: BrokerSettings) -> None:
        self._settings = settings
        self._client: Client | None = None
        self._opening = asyncio.Lock()

    async def open(self) -> None:
        """Connect."""
        await self._connect()

    async def send(self, topic: str, batch: Sequence[Message]) -> None:
        """Send, and wait until the stream has stored all of it."""
        client = await self._connect()
        stream = client.jetstream(timeout=PATIENCE)
        for wave in waves(batch):
            told = [_publish(stream, topic, message) for message in wave]
            results = await asyncio.gather(*told, return_exceptions=True)
            failed = next((one for one in results if isinstance(one, BaseException)), None)
            if failed is not None:
                await self._check(client)
                raise Unavailable(f"NATS did not take all of it: {failed!r}") from failed

    async def close(self) -> None:
        """Let go of the connection."""
        client, self._client = self._client, None
        await _closed(client)

    async def _connect(self) -> Client:
        async with self._opening:
            if self._client is None or not self._client.is_connected:
                self._client = await _connected(self._settings)
            return self._client

    async def _check(self, client: Client) -> None:
        """Let go of a connection that no longer answers. A message that was refused says nothing about it."""
        try:
            await _answers(client)
        except DOWN:
            if self._client is client:  # else somebody has connected anew meanwhile
                self._client = None
            await _closed(client)


async def _publish(stream: JetStreamContext, topic: str, message: Message) -> None:
    headers = {"Nats-Msg-Id": message.id, "key": message.key, **message.headers}
    await stream.publish(topic, message.body, timeout=PATIENCE, headers=headers)


class Source:
    """A durable consumer that is pulled from, one for each group."""

    def __init__(self, settings: BrokerSettings, topic: str, group: str) -> None:
        self._settings, self._topic, self._group = settings, topic, group
        self._client: Client | None = None
        self._pull: JetStreamContext.PullSubscription | None = None
        self._held: list[Msg] = []

    async def open(self) -> None:
        """Connect, and make the consumer where it is not there yet."""
        self._client = await _connected(self._settings)
        config = ConsumerConfig(ack_wait=UNACKED, max_ack_pending=20_000)
        try:
            stream = self._client.jetstream(timeout=CONNECT)
            self._pull = await stream.pull_subscribe(self._topic, durable=self._group, config=config)
        except DOWN as error:
            raise Unavailable(f"NATS has no stream for {self._topic!r}, or is away: {error!r}") from error

    async def take(self, limit: int, seconds: float) -> list[Incoming]:
        """What waits now; nothing after so many seconds."""
        assert self._pull is not None
        found: list[Msg] = []
        try:
            with suppress(TimeoutError):  # the library's own is one of these; it raises both for "nothing came"
                found = await self._pull.fetch(limit, timeout=seconds)
            if not found:
                await _answers(self._client)
        except DOWN as error:
            raise Unavailable(f"NATS is away: {error!r}") from error
        self._held += found
        return [Incoming(one.data, _place(one), one) for one in found]

    async def done(self, batch: Sequence[Incoming]) -> None:
        """They need not be given out again."""
        try:
            for one in batch:
                await one.handle.ack()
            await _answers(self._client)
        except DOWN as error:
            raise Unavailable(f"NATS is away: {error!r}") from error
        self._held = [one for one in self._held if not one.is_acked]

    async def waiting(self) -> int:
        """What was never given out to the group, and what it has not acknowledged."""
        assert self._pull is not None
        try:
            told = await self._pull.consumer_info()
        except DOWN as error:
            raise Unavailable(f"NATS is away: {error!r}") from error
        return (told.num_pending or 0) + (told.num_ack_pending or 0)

    async def close(self) -> None:
        """What was taken and not acknowledged is given out again: at once where the server hears of it, else later."""
        client, self._client, self._pull = self._client, None, None
        held, self._held = self._held, []
        if client is not None and held:
            with suppress(*DOWN):
                async with asyncio.timeout(CONNECT):
                    await _given_back(client, held)
        await _closed(client)


async def _given_back(client: Client, held: Sequence[Msg]) -> None:
    for one in held:
        if not one.is_acked:
            await one.nak()
    await client.flush(CONNECT)


def _place(one: Msg) -> str:
    return f"{one.subject}/{one.metadata.sequence.stream}"
