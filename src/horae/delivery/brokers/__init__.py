"""Brokers, each behind the same three methods; a broker's own library is only loaded where it is configured.

`send` returns when the broker has acknowledged every message of a batch. What one key said is kept in order: no message
of a key is taken before the one that was sent before it. When `send` raises, some may have been taken: whoever sends
them again sends them all, from the first.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol

from horae.domain.errors import Invalid, Unavailable
from horae.runtime.settings import BrokerSettings

PATIENCE: Final = 30.0
"""Seconds within which a broker acknowledges what it was sent."""


class Message(NamedTuple):
    """What a broker carries: an id that tells duplicates, the key it is ordered by, a body and headers."""

    id: str
    key: str
    body: bytes
    headers: Mapping[str, str]


class SinkDown(Unavailable):
    """What was sent is not acknowledged: not all of it, or none."""


class EventSink(Protocol):
    """Where messages go."""

    async def open(self) -> None:
        """Connect. Raises `SinkDown` where nobody answers."""

    async def send(self, topic: str, batch: Sequence[Message]) -> None:
        """Send, and wait until all is acknowledged. Raises `SinkDown`."""

    async def close(self) -> None:
        """Let go of the connection."""


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
