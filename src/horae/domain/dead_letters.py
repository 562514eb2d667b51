"""What was given up, and what may still become of it.

One letter per intended effect: a replay is a new instance that answers to the letter it came from, so what dies twice
is one letter that says so.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Conflict, Invalid
from horae.domain.jobs import Job, Status

MOST: Final = 10_000


class ReplayStatus(StrEnum):
    """How far a letter has come."""

    NEW = "NEW"
    REPLAYING = "REPLAYING"
    REPLAYED = "REPLAYED"
    DEAD_AGAIN = "DEAD_AGAIN"
    DISCARDED = "DISCARDED"


OPEN: Final = frozenset({ReplayStatus.NEW, ReplayStatus.DEAD_AGAIN})


class Mark(NamedTuple):
    """Where a page of letters ends."""

    created_at: datetime
    instance_id: UUID


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """A dead letter. `instance_id` died first; `replay_id` is its latest replay."""

    shard: int
    instance_id: UUID
    job_id: UUID
    fire_time: datetime
    created_at: datetime
    idem_key: str
    error_code: str
    status: ReplayStatus
    error_msg: str | None = None
    tag: str | None = None
    business_key: str | None = None
    generation: int | None = None
    replay_id: UUID | None = None
    payload: Any = None
    job: str | None = None
    unreadable: str | None = None

    @property
    def mark(self) -> Mark:
        """Where a page that ends with it ends."""
        return Mark(self.created_at, self.instance_id)


class Wanted(msgspec.Struct, frozen=True):
    """Which letters are meant; what is not given is any."""

    job_id: UUID | None = None
    tag: str | None = None
    error_code: str | None = None


def check_open(letter: Letter) -> None:
    """Refuse to replay or discard what is under way, was replayed or discarded already."""
    if letter.status not in OPEN:
        raise Conflict(f"the dead letter is {letter.status}; only one that is NEW or DEAD_AGAIN can be changed")


def living(job: Job | None) -> Job | None:
    """The job that a replay would run by; None when it is gone."""
    return None if job is None or job.status == Status.REMOVED else job


def check_wanted(wanted: Wanted, limit: int) -> None:
    """Refuse a replay of everything: a slip of the hand must not send it all."""
    if wanted == Wanted():
        raise Invalid("say which letters: by job, by tag or by error code")
    if not 1 <= limit <= MOST:
        raise Invalid(f"one replay sends 1 to {MOST} letters, not {limit}")
