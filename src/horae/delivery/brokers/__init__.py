"""Brokers behind two protocols: `EventSink` sends messages, `EventSource` takes them.

Here live one module per kind of broker and what they share. A module imports the library of its broker, so it is loaded
only where such a broker is configured. Which tenant may use which topic lives in `domain.events.channels`.

1. `send` returns when the broker has acknowledged every message of a batch.
2. Messages of one key keep their order: the broker has no message of a key before the one that was sent before it.
3. When `send` raises, the broker may have some of the messages. The caller sends the whole batch again, from the first.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol

from horae.domain.errors import Invalid
from horae.runtime.settings import BrokerSettings

AT_ONCE: Final = 500
"""Messages that are sent at the same time, without waiting for the acknowledgement of each."""
ACK_TIMEOUT_S: Final = 30.0
"""Seconds within which a broker must acknowledge a message."""


class Message(NamedTuple):
    """A message to send: an id for deduplication, the key that orders it, a body and headers."""

    id: str
    key: str
    body: bytes
    headers: Mapping[str, str]


class BrokerMessage(NamedTuple):
    """A message that was taken: its body, its place in the topic, and the object of the broker's library."""

    body: bytes
    place: str
    handle: Any


class EventSink(Protocol):
    """Sends messages to the topics of one broker."""

    async def open(self) -> None:
        """Connect. Raises `Unavailable` where the broker does not answer."""

    async def send(self, topic: str, batch: Sequence[Message]) -> None:
        """Send a batch and wait until every message is acknowledged. Raises `Unavailable`."""

    async def close(self) -> None:
        """Close the connection."""


class EventSource(Protocol):
    """Takes messages from one topic. A message that is not acknowledged is delivered again, perhaps elsewhere."""

    async def open(self) -> None:
        """Connect. Raises `Unavailable` where the broker does not answer."""

    async def take(self, limit: int, seconds: float) -> list[BrokerMessage]:
        """Return up to `limit` messages; an empty list when none came within `seconds`. Raises `Unavailable`."""

    async def acknowledge(self, batch: Sequence[BrokerMessage]) -> None:
        """Acknowledge messages. Raises `Unavailable`: then the broker delivers them again."""

    async def backlog(self) -> int | None:
        """Return about how many messages are not acknowledged, as the broker counts them. Raises `Unavailable`.

        Returns None where a broker cannot be asked. It costs one to three requests, and may be called every few
        seconds, also while `take` waits.
        """

    async def close(self) -> None:
        """Close the connection."""


def waves(batch: Sequence[Message]) -> Iterator[list[Message]]:
    """Split a batch into parts to send at once: at most one message of a key per part, and each key keeps its order."""
    depth: dict[str, int] = {}
    parts: list[list[Message]] = []
    for message in batch:
        at = depth[message.key] = depth.get(message.key, -1) + 1
        if at == len(parts):
            parts.append([])
        parts[at].append(message)
    for part in parts:
        yield from (part[first : first + AT_ONCE] for first in range(0, len(part), AT_ONCE))


CONSUMERS: Final = {
    "kafka": "KafkaConsumer",
    "nats": "NatsConsumer",
    "rabbitmq": "RabbitConsumer",
    "rocketmq": "RocketConsumer",
}
PUBLISHERS: Final = {
    "kafka": "KafkaProducer",
    "nats": "NatsPublisher",
    "rabbitmq": "RabbitPublisher",
    "rocketmq": "RocketPublisher",
}
"""Class names, because the library of a broker is imported only where it is used."""


def source_of(settings: BrokerSettings, topic: str, group: str) -> EventSource:
    """Return the source of a topic, not yet open. Consumers of one group share its messages."""
    consumer: EventSource = getattr(module_of(settings.kind), CONSUMERS[settings.kind])(settings, topic, group)
    return consumer


def sink_of(settings: BrokerSettings) -> EventSink:
    """Return the sink of a broker, not yet open."""
    publisher: EventSink = getattr(module_of(settings.kind), PUBLISHERS[settings.kind])(settings)
    return publisher


def module_of(kind: str) -> Any:
    """Import the module for a kind of broker."""
    try:
        return import_module(f"horae.delivery.brokers.{kind}")
    except ImportError as error:
        raise Invalid(f"the library for {kind} is not installed: pip install 'horae[{kind}]' ({error})") from error
