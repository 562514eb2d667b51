"""RocketMQ 5 as a sink, through its proxy. The broker acknowledges a message as its own settings say it is stored.

Messages of one key are sent one after another. In a topic of type FIFO they are one message group, so a consumer has
them in their order. In a topic of type NORMAL they lie in several queues, and a consumer may see them in another order.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from horae.delivery.brokers import ACK_TIMEOUT_S, Message, waves
from horae.delivery.brokers.rocketmq_proxy import PROTOCOL, Code, ProxySession, Route, explain
from horae.delivery.brokers.rocketmq_source import RocketConsumer
from horae.domain.errors import Unavailable
from horae.runtime.clock import boottime
from horae.runtime.settings import BrokerSettings

__all__ = ["RocketConsumer", "RocketPublisher"]
ROUTE_KEPT_S: Final = 30.0
"""Seconds for which the type of a topic is remembered. A failure forgets it at once."""
SENDS_AT_ONCE: Final = 64
"""Messages that are under way at the same time: a broker refuses those that wait in its queue for more than 200 ms."""
BUSY_PAUSE_S: Final = 0.05
"""Seconds before the first repetition to a busy broker; each further pause is twice as long."""
MAX_GROUP_BYTES: Final = 63
"""The name of a message group has to be shorter than 64 bytes."""


class RocketPublisher:
    """Sends one message of a key at a time, on one channel that all tenants share."""

    def __init__(self, settings: BrokerSettings) -> None:
        self._session = ProxySession(settings)
        self._opening, self._places = asyncio.Lock(), asyncio.Semaphore(SENDS_AT_ONCE)
        self._routes: dict[str, tuple[float, Route]] = {}

    async def open(self) -> None:
        """Connect."""
        async with self._opening:
            if not self._session.is_open:
                await self._session.open()

    async def send(self, topic: str, batch: Sequence[Message]) -> None:
        """Send a batch and wait until every message is acknowledged. Fails where the topic was not made."""
        await self.open()
        try:
            fifo = (await self._route(topic)).fifo
            for wave in waves(batch):
                sends = [self._send(topic, message, fifo=fifo) for message in wave]
                results = await asyncio.gather(*sends, return_exceptions=True)
                failed = next((one for one in results if isinstance(one, BaseException)), None)
                if failed is not None:
                    raise failed
        except Unavailable:
            self._routes.pop(topic, None)
            raise

    async def close(self) -> None:
        """Close the channel."""
        await self._session.close()

    async def _route(self, topic: str) -> Route:
        until, route = self._routes.get(topic, (0.0, None))
        if route is None or until < boottime():
            route = await self._session.route(topic)
            self._routes[topic] = boottime() + ROUTE_KEPT_S, route
        return route

    async def _send(self, topic: str, message: Message, *, fifo: bool) -> None:
        """Send a message. One that a busy broker refuses is sent again, as long as its time is not up."""
        request = PROTOCOL.SendMessageRequest(messages=[self._message(topic, message, fifo=fifo)])
        until, pause_s = boottime() + ACK_TIMEOUT_S, BUSY_PAUSE_S
        while True:
            async with self._places:
                answer = await self._session.call("SendMessage", request, ACK_TIMEOUT_S)
            if answer.status.code == Code.OK:
                return
            if answer.status.code != Code.TOO_MANY_REQUESTS or boottime() > until:
                raise Unavailable(f"RocketMQ did not take all of it: {explain(answer.status)}")
            await asyncio.sleep(pause_s)
            pause_s *= 2

    def _message(self, topic: str, message: Message, *, fifo: bool) -> dict[str, Any]:
        """Return the message as the protocol has it: its id is a key of the broker's index, and a property."""
        id_ = _plain(message.id)
        system = {
            "message_id": sha256(id_.encode()).hexdigest(),
            "message_type": PROTOCOL.MessageType.FIFO if fifo else PROTOCOL.MessageType.NORMAL,
            "message_group": _plain(message.key, MAX_GROUP_BYTES) if fifo else None,
            "keys": [id_],
            "body_encoding": PROTOCOL.Encoding.IDENTITY,
            "born_timestamp": datetime.now(UTC),
        }
        return {
            "topic": self._session.resource(topic),
            "user_properties": {**message.headers, "id": id_, "key": _plain(message.key)},
            "system_properties": system,
            "body": message.body,
        }


def _plain(text: str, limit: int = 10_000) -> str:
    """Return a text as a property may hold it: its digest where it is longer, blank, or has control characters."""
    plain = text.isprintable() and text.strip() and len(text.encode()) <= limit
    return text if plain else sha256(text.encode()).hexdigest()[:limit]
