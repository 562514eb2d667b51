"""Intakes: topics from which schedule changes are read, and the format of their messages (seed 000 §2, seed 003).

A message says what the business wants for one key now: a time, or a cancellation; for a subject of a rolling set, to be
in the set or not. Its version orders the messages of a
key, whatever order they arrive in: the higher version wins, and a repeated message changes nothing. The intake
determines the tenant, never the message.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import BadRequest, Invalid
from horae.domain.events.channels import MOST_FILTERS, TopicAddress
from horae.domain.foreign import Unreadable, read_as, read_unambiguous_json
from horae.domain.jobs.jobs import check_name

MAX_MESSAGE_BYTES: Final = 128 * 1024


class Op(StrEnum):
    """The operation. `schedule` and `move` are the same: both set the time that is valid from now on.

    `add` and `remove` are about a subject; the type is then the name of a rolling job.
    """

    SCHEDULE = "schedule"
    MOVE = "move"
    CANCEL = "cancel"
    ADD = "add"
    REMOVE = "remove"


class Intake(msgspec.Struct, frozen=True, omit_defaults=True):
    """The topic of changes, and the types that they may change; without `types` all of them."""

    source: TopicAddress
    types: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.types) > MOST_FILTERS:
            raise Invalid(f"an intake names at most {MOST_FILTERS} types")


class TaskMessage(msgspec.Struct, frozen=True):
    """One message: type, key, operation and version. Without `at` the task is due now.

    `at_once` refreshes an added subject now, and not at the next tick.
    """

    type: str
    key: str
    version: int
    op: Op = Op.SCHEDULE
    at: datetime | None = None
    payload: Any = msgspec.UNSET
    at_once: bool = False


class Position(NamedTuple):
    """The progress of an intake: messages taken, parked, and waiting at the last look, and the current error."""

    taken: int
    parked: int
    taken_at: datetime | None
    waiting: int | None
    looked_at: datetime
    error: str | None


class ParkedMessage(NamedTuple):
    """A message that waits for a person, and why. `body` is the message as it arrived."""

    id: UUID
    at: datetime
    channel_id: UUID
    intake: str
    place: str
    code: str
    reason: str
    body: Any


def read(body: bytes, intake: Intake) -> TaskMessage:
    """Parse a message: plain JSON, or a CloudEvent around it. Raises `BadRequest` for anything else."""
    if len(body) > MAX_MESSAGE_BYTES:
        raise BadRequest(f"a message has at most {MAX_MESSAGE_BYTES} bytes")
    try:
        message = read_unambiguous_json(body)
        if isinstance(message, dict) and "specversion" in message:
            message = message.get("data")
        change = read_as(message, TaskMessage)
    except Unreadable as error:
        raise BadRequest(f"no schedule change: {error}") from error
    try:
        check_name(change.type)  # before it becomes a parameter of a query, which cannot contain NUL
    except Invalid as error:
        raise BadRequest(f"no type has such a name: {error}") from error
    if intake.types and change.type not in intake.types:
        raise BadRequest(f"this intake does not change tasks of type {change.type!r}")
    if not -(2**63) <= change.version < 2**63:
        raise BadRequest("a version has at most 64 bits")
    return change
