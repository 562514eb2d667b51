"""NATS JetStream. A stream of the deployment covers the subjects, and acknowledges a message that it has stored.

The client never reconnects by itself. A message that was lost with a connection could be overtaken by a later one. The
next caller of `send` or `open` makes a new connection.
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

from horae.delivery.brokers import ACK_TIMEOUT_S, BrokerMessage, Message, waves
from horae.domain.errors import Unavailable
from horae.runtime.settings import BrokerSettings

CONNECT_TIMEOUT_S: Final = 5
"""Seconds for connecting, closing and one round trip."""
DOWN: Final = (Error, OSError, asyncio.TimeoutError)
"""Errors that mean that the server or the connection is not usable."""
ACK_WAIT_S: Final = 30.0
"""Seconds after which the server delivers a message again that was taken and not acknowledged."""


async def _open_connection(settings: BrokerSettings) -> Client:
    async def quiet(_error: Exception) -> None:
        """Ignore the error: the call that fails because of it raises it."""

    once = {"allow_reconnect": False, "max_reconnect_attempts": 1, "reconnect_time_wait": 0.1}
    options: dict[str, Any] = {**once, "connect_timeout": CONNECT_TIMEOUT_S, "error_cb": quiet, **settings.options}
    try:
        async with asyncio.timeout(2 * CONNECT_TIMEOUT_S):
            return await nats.connect(settings.url.split(","), **options)
    except DOWN as error:
        raise Unavailable(f"NATS is not reached: {error!r}") from error


async def _close_quietly(client: Client | None) -> None:
    """Close a connection within a time limit, and ignore errors: the caller no longer needs it."""
    if client is not None and not client.is_closed:
        with suppress(*DOWN):
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await client.close()


async def _ping(client: Client | None) -> None:
    """Make a round trip; raises where the server does not answer.

    For six minutes the library treats a silent server like one without messages. The round trip is shielded: the
    library's reader would fail on an answer whose request was cancelled.
    """
    assert client is not None
    await asyncio.shield(client.rtt(CONNECT_TIMEOUT_S))


class NatsPublisher:
    """Publishes one message of a key at a time, on one connection that all tenants share."""

    def __init__(self, settings: BrokerSettings) -> None:
        self._settings = settings
        self._client: Client | None = None
        self._opening = asyncio.Lock()

    async def open(self) -> None:
        """Connect."""
        await self._connect()

    async def send(self, topic: str, batch: Sequence[Message]) -> None:
        """Send a batch and wait until the stream has stored every message."""
        client = await self._connect()
        stream = client.jetstream(timeout=ACK_TIMEOUT_S)
        for wave in waves(batch):
            sends = [_publish(stream, topic, message) for message in wave]
            results = await asyncio.gather(*sends, return_exceptions=True)
            failed = next((one for one in results if isinstance(one, BaseException)), None)
            if failed is not None:
                await self._check(client)
                raise Unavailable(f"NATS did not take all of it: {failed!r}") from failed

    async def close(self) -> None:
        """Close the connection."""
        client, self._client = self._client, None
        await _close_quietly(client)

    async def _connect(self) -> Client:
        async with self._opening:
            if self._client is None or not self._client.is_connected:
                self._client = await _open_connection(self._settings)
            return self._client

    async def _check(self, client: Client) -> None:
        """Close a connection that no longer answers. A refused message alone is no reason to close it."""
        try:
            await _ping(client)
        except DOWN:
            if self._client is client:  # otherwise another caller has reconnected meanwhile
                self._client = None
            await _close_quietly(client)


async def _publish(stream: JetStreamContext, topic: str, message: Message) -> None:
    headers = {"Nats-Msg-Id": message.id, "key": message.key, **message.headers}
    await stream.publish(topic, message.body, timeout=ACK_TIMEOUT_S, headers=headers)


class NatsConsumer:
    """A durable pull consumer, one per group."""

    def __init__(self, settings: BrokerSettings, topic: str, group: str) -> None:
        self._settings, self._topic, self._group = settings, topic, group
        self._client: Client | None = None
        self._pull: JetStreamContext.PullSubscription | None = None
        self._held: list[Msg] = []

    async def open(self) -> None:
        """Connect, and create the consumer where it does not exist yet."""
        self._client = await _open_connection(self._settings)
        config = ConsumerConfig(ack_wait=ACK_WAIT_S, max_ack_pending=20_000)
        try:
            stream = self._client.jetstream(timeout=CONNECT_TIMEOUT_S)
            self._pull = await stream.pull_subscribe(self._topic, durable=self._group, config=config)
        except DOWN as error:
            raise Unavailable(f"NATS has no stream for {self._topic!r}, or is away: {error!r}") from error

    async def take(self, limit: int, seconds: float) -> list[BrokerMessage]:
        """Return up to `limit` messages; an empty list when none came within `seconds`."""
        assert self._pull is not None
        found: list[Msg] = []
        try:
            with suppress(TimeoutError):  # the library's own timeout is a subclass; it raises both for "no message"
                found = await self._pull.fetch(limit, timeout=seconds)
            if not found:
                await _ping(self._client)
        except DOWN as error:
            raise Unavailable(f"NATS is away: {error!r}") from error
        self._held += found
        return [BrokerMessage(one.data, _place(one), one) for one in found]

    async def acknowledge(self, batch: Sequence[BrokerMessage]) -> None:
        """Acknowledge messages, so that the server does not deliver them again."""
        try:
            for one in batch:
                await one.handle.ack()
            await _ping(self._client)
        except DOWN as error:
            raise Unavailable(f"NATS is away: {error!r}") from error
        self._held = [one for one in self._held if not one.is_acked]

    async def backlog(self) -> int:
        """Return how many messages the group has not received or not acknowledged."""
        assert self._pull is not None
        try:
            info = await self._pull.consumer_info()
        except DOWN as error:
            raise Unavailable(f"NATS is away: {error!r}") from error
        return (info.num_pending or 0) + (info.num_ack_pending or 0)

    async def close(self) -> None:
        """Give unacknowledged messages back and close the connection.

        The server delivers them again: at once, or after `ACK_WAIT_S` where it does not hear of their return.
        """
        client, self._client, self._pull = self._client, None, None
        held, self._held = self._held, []
        if client is not None and held:
            with suppress(*DOWN):
                async with asyncio.timeout(CONNECT_TIMEOUT_S):
                    await _give_back(client, held)
        await _close_quietly(client)


async def _give_back(client: Client, held: Sequence[Msg]) -> None:
    for one in held:
        if not one.is_acked:
            await one.nak()
    await client.flush(CONNECT_TIMEOUT_S)


def _place(one: Msg) -> str:
    return f"{one.subject}/{one.metadata.sequence.stream}"
