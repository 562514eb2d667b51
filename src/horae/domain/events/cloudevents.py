"""Lifecycle events as CloudEvents 1.0, the same for every sink.

Two events never have the same id. An event that is sent twice has the same id both times, so that receivers can discard
it. All events of a job have one `partitionkey` and keep their order.
"""

from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.events.events import OF_END
from horae.domain.ids import Prefix, public
from horae.domain.instances.lifecycle import State

SOURCE: Final = "/horae"
"""The `source` attribute of every event."""
TYPES: Final = "io.horae."
"""The prefix of every event type."""
CONTENT: Final = "application/cloudevents+json"
BATCH: Final = "application/cloudevents-batch+json"
PRIVATE: Final = frozenset({"payload"})
"""Fields that are encrypted in their rows and not sent: a receiver with permission reads them from the API."""


class EventRow(NamedTuple):
    """One event as its row has it. `number` is None for the end of an instance."""

    xid: int
    number: int | None
    at: datetime
    shard: int
    tenant_id: UUID
    job_id: UUID | None
    instance_id: UUID | None
    event: str
    body: dict[str, Any]


class OutgoingEvent(NamedTuple):
    """An event that is ready to send: its id, its type, the key that orders it, and the whole event as JSON."""

    id: str
    type: str
    key: str
    data: bytes


class Envelope(msgspec.Struct, frozen=True, omit_defaults=True):
    """A CloudEvent in JSON format. Names of extension attributes are in lower case, without separators."""

    id: str
    type: str
    time: datetime
    tenantid: str
    partitionkey: str
    data: dict[str, Any]
    specversion: str = msgspec.field(default_factory=lambda: "1.0")
    source: str = msgspec.field(default_factory=lambda: SOURCE)
    datacontenttype: str = msgspec.field(default_factory=lambda: "application/json")
    subject: str | None = None


def end_of(state: str) -> str:
    """Return the event name for the end of an instance in this state."""
    return OF_END[State(state)]


@cache
def type_of(event: str) -> str:
    """Return the type of an event: INSTANCE_DONE becomes `io.horae.instance.done`."""
    noun, _, what = event.lower().partition("_")
    return f"{TYPES}{noun}.{what}"


def outgoing_event(cell: str, one: EventRow, subject: str | None) -> OutgoingEvent:
    """Return an event in the form that is sent; `subject` is the name of its job."""
    tenant = _public_id(Prefix.TENANT, one.tenant_id)
    job = None if one.job_id is None else _public_id(Prefix.JOB, one.job_id)
    instance = None if one.instance_id is None else public(Prefix.INSTANCE, one.instance_id)
    id_, kind, key = _id(cell, one, instance), type_of(one.event), job or tenant
    data = _encode(Envelope(id_, kind, one.at.astimezone(UTC), tenant, key, _data(one, job, instance), subject=subject))
    return OutgoingEvent(id_, kind, key, data)


@lru_cache(maxsize=4096)
def _public_id(prefix: Prefix, id_: UUID) -> str:
    """Return the public form of an id, cached because many events have the same tenant and job."""
    return public(prefix, id_)


def _id(cell: str, one: EventRow, instance: str | None) -> str:
    """Return the id of an event.

    An instance ends once, so its id is enough. Other events have a number of their cell; the time distinguishes them
    from events with the same number that a restore of the cell has lost.
    """
    if one.number is None:
        assert instance is not None
        return instance + ".end"
    return f"{cell}.{one.number}.{int(one.at.timestamp() * 1_000_000)}"


def _data(one: EventRow, job: str | None, instance: str | None) -> dict[str, Any]:
    facts = one.body | {"event": one.event, "job_id": job, "instance_id": instance}
    return {name: value for name, value in facts.items() if value is not None and name not in PRIVATE}


_encode = msgspec.json.Encoder().encode
