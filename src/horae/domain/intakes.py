"""Intakes: topics by which schedule changes come in, and what a message of theirs says (seed 000 §2).

A message says what the business wants of one key now: a time, or that it is called off. Its version orders what was
said about the key, whatever came first: of two the higher one holds, and one that comes twice changes nothing. Whose
key it is, the intake says, never the message.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.channels import MOST_FILTERS, Topic
from horae.domain.errors import BadRequest, Invalid
from horae.domain.foreign import Unreadable, read_as, read_unambiguous_json
from horae.domain.jobs import check_name

LARGEST: Final = 128 * 1024


class Op(StrEnum):
    """What is wanted. `schedule` and `move` are the same: both say the time that holds from now on."""

    SCHEDULE = "schedule"
    MOVE = "move"
    CANCEL = "cancel"


class Intake(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where changes come from, and of which types they may be; without `types` of all."""

    source: Topic
    types: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.types) > MOST_FILTERS:
            raise Invalid(f"an intake names at most {MOST_FILTERS} types")


class Change(msgspec.Struct, frozen=True):
    """One message: which key of which type, what is wanted, in which version. Without `at` it is now."""

    type: str
    key: str
    version: int
    op: Op = Op.SCHEDULE
    at: datetime | None = None
    payload: Any = msgspec.UNSET


class Position(NamedTuple):
    """Messages taken, and parked of them; how many lay there still when it last looked; what is wrong now."""

    taken: int
    parked: int
    taken_at: datetime | None
    waiting: int | None
    looked_at: datetime
    error: str | None


class Parked(NamedTuple):
    """A message that waits for a person, and why. `body` is the message as it came."""

    id: UUID
    at: datetime
    channel_id: UUID
    intake: str
    place: str
    code: str
    reason: str
    body: Any


def read(body: bytes, intake: Intake) -> Change:
    """What a message says: plain JSON, or a CloudEvent around it. Raises `BadRequest` for what says nothing."""
    if len(body) > LARGEST:
        raise BadRequest(f"a message has at most {LARGEST} bytes")
    try:
        told = read_unambiguous_json(body)
        if isinstance(told, dict) and "specversion" in told:
            told = told.get("data")
        change = read_as(told, Change)
    except Unreadable as error:
        raise BadRequest(f"no schedule change: {error}") from error
    try:
        check_name(change.type)  # before anybody asks a database for it: no text with a NUL is a parameter
    except Invalid as error:
        raise BadRequest(f"no type has such a name: {error}") from error
    if intake.types and change.type not in intake.types:
        raise BadRequest(f"this intake does not change tasks of type {change.type!r}")
    if not -(2**63) <= change.version < 2**63:
        raise BadRequest("a version has at most 64 bits")
    return change
