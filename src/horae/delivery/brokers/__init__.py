"""Brokers, each behind the same three methods; a broker's own library is only loaded where it is configured.

`send` returns when the broker has acknowledged every message of a batch. What one key said is kept in order: no message
of a key is taken before the one that was sent before it. When `send` raises, some may have been taken: whoever sends
them again sends them all, from the first.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol

from horae.domain.errors import Invalid
from horae.runtime.settings import BrokerSettings

AT_ONCE: Final = 500
PATIENCE: Final = 30.0
"""Seconds within which a broker acknowledges what it was sent."""


class Message(NamedTuple):
    """What a broker carries: an id that tells duplicates, the key it is ordered by, a body and headers."""

    id: str
    key: str
    body: bytes
    headers: Mapping[str, str]


class Incoming(NamedTuple):
    """What a broker gave out: its body, where it lay, and what the broker's library knows it by."""

    body: bytes
    place: str
    handle: Any


class EventSink(Protocol):
    """Where messages go."""

    async def open(self) -> None:
        """Connect. Raises `Unavailable` where nobody answers."""

    async def send(self, topic: str, batch: Sequence[Message]) -> None:
        """Send, and wait until all is acknowledged. Raises `Unavailable`."""

    async def close(self) -> None:
        """Let go of the connection."""


class EventSource(Protocol):
    """Where messages come from. What is not `done` is given out again, perhaps to somebody else."""

    async def open(self) -> None:
        """Connect. Raises `Unavailable` where nobody answers."""

    async def take(self, limit: int, seconds: float) -> list[Incoming]:
        """What waits now, at most so many; nothing after so many seconds. Raises `Unavailable`."""

    async def done(self, batch: Sequence[Incoming]) -> None:
        """What was taken is dealt with. Raises `Unavailable`: then it is given out again."""

    async def waiting(self) -> int:
        """How many lie there that were not `done`, as the broker counts them about now. Raises `Unavailable`.

        One question to the broker or three: it may be asked every few seconds, also while somebody takes.
        """

    async def close(self) -> None:
        """Let go of the connection."""


def waves(batch: Sequence[Message]) -> Iterator[list[Message]]:
    """A batch in parts that may be sent at once: no key is twice in one, and what one key said stays in order."""
    depth: dict[str, int] = {}
    parts: list[list[Message]] = []
    for message in batch:
        at = depth[message.key] = depth.get(message.key, -1) + 1
        if at == len(parts):
            parts.append([])
        parts[at].append(message)
    for part in parts:
        yield from (part[first : first + AT_ONCE] for first in range(0, len(part), AT_ONCE))


def source_of(settings: BrokerSettings, topic: str, group: str) -> EventSource:
    """A topic of a broker to take from, not yet open. Those of one group share what it holds."""
    source: EventSource = room_of(settings.kind).Source(settings, topic, group)
    return source


def sink_of(settings: BrokerSettings) -> EventSink:
    """The sink of a broker, not yet open."""
    sink: EventSink = room_of(settings.kind).Sink(settings)
    return sink


def room_of(kind: str) -> Any:
    """The module that speaks to brokers of a kind."""
    try:
        return import_module(f"horae.delivery.brokers.{kind}")
    except ImportError as error:
        raise Invalid(f"the library for {kind} is not installed: pip install 'horae[{kind}]' ({error})") from error
