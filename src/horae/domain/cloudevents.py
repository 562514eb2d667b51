"""Lifecycle events as CloudEvents 1.0: what every sink is given, whatever carries it.

Two events never have one id, and an event told twice has the same id both times: receivers forget what they know. All
events of a job have one `partitionkey`, and are told in one order.
"""

from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.events import OF_END
from horae.domain.ids import Prefix, public
from horae.domain.lifecycle import State

SOURCE: Final = "/horae"
TYPES: Final = "io.horae."
CONTENT: Final = "application/cloudevents+json"
BATCH: Final = "application/cloudevents-batch+json"
PRIVATE: Final = frozenset({"payload"})
"""What is sealed where it lies is not told: receivers who may read it ask for it."""


class Happened(NamedTuple):
    """One thing that happened, as its row tells it. `number` is None for the end of an instance."""

    xid: int
    number: int | None
    at: datetime
    shard: int
    tenant_id: UUID
    job_id: UUID | None
    instance_id: UUID | None
    event: str
    body: dict[str, Any]


class Told(NamedTuple):
    """An event, ready to be told: its id, its type, the key it is ordered by, and the whole of it as JSON."""

    id: str
    type: str
    key: str
    data: bytes


class Envelope(msgspec.Struct, frozen=True, omit_defaults=True):
    """CloudEvents 1.0 in JSON format; names of extensions are lower case and without separators."""

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
    """What the end of an instance in this state is called."""
    return OF_END[State(state)]


@cache
def type_of(event: str) -> str:
    """The type of an event: INSTANCE_DONE is `io.horae.instance.done`."""
    noun, _, what = event.lower().partition("_")
    return f"{TYPES}{noun}.{what}"


def told(cell: str, one: Happened, subject: str | None) -> Told:
    """An event as it is told; `subject` is the name of its job."""
    tenant = _again(Prefix.TENANT, one.tenant_id)
    job = None if one.job_id is None else _again(Prefix.JOB, one.job_id)
    instance = None if one.instance_id is None else public(Prefix.INSTANCE, one.instance_id)
    id_, kind, key = _id(cell, one, instance), type_of(one.event), job or tenant
    data = _encode(Envelope(id_, kind, one.at.astimezone(UTC), tenant, key, _data(one, job, instance), subject=subject))
    return Told(id_, kind, key, data)


@lru_cache(maxsize=4096)
def _again(prefix: Prefix, id_: UUID) -> str:
    """The public form of an id that many events bear."""
    return public(prefix, id_)


def _id(cell: str, one: Happened, instance: str | None) -> str:
    """An instance ends once. What else happened is numbered by its cell; the time tells it from what a restore lost."""
    if one.number is None:
        assert instance is not None
        return instance + ".end"
    return f"{cell}.{one.number}.{int(one.at.timestamp() * 1_000_000)}"


def _data(one: Happened, job: str | None, instance: str | None) -> dict[str, Any]:
    facts = one.body | {"event": one.event, "job_id": job, "instance_id": instance}
    return {name: value for name, value in facts.items() if value is not None and name not in PRIVATE}


_encode = msgspec.json.Encoder().encode
