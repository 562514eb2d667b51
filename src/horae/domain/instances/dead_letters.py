"""Dead letters: instances that were given up, and what may still happen to them.

There is one dead letter per intended effect. A replay is a new instance that belongs to its dead letter, so a replay
that dies too changes the status of the same dead letter.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Conflict, Invalid
from horae.domain.jobs.jobs import Job, Status

MOST: Final = 10_000
"""Dead letters that one request replays, discards or tags."""
MAX_TAGS: Final = 8
"""Tags that people put on one dead letter."""


class ReplayStatus(StrEnum):
    """The status of a dead letter."""

    NEW = "NEW"
    REPLAYING = "REPLAYING"
    REPLAYED = "REPLAYED"
    DEAD_AGAIN = "DEAD_AGAIN"
    DISCARDED = "DISCARDED"


OPEN: Final = frozenset({ReplayStatus.NEW, ReplayStatus.DEAD_AGAIN})
"""Dead letters that may be replayed or discarded."""


class DeadLetterMark(NamedTuple):
    """Where a page of dead letters ends."""

    created_at: datetime
    instance_id: UUID


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True):
    """A dead letter. `instance_id` is the instance that died first; `replay_id` is its latest replay."""

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
    job_version: int = 1
    cause_id: UUID | None = None
    tags: tuple[str, ...] = ()
    job: str | None = None
    unreadable: str | None = None

    @property
    def mark(self) -> DeadLetterMark:
        """The mark of a page that ends with this dead letter."""
        return DeadLetterMark(self.created_at, self.instance_id)


class DeadLetterFilter(msgspec.Struct, frozen=True):
    """Which dead letters are meant; a field that is None matches all. `tag` is the given one, or one of a person."""

    job_id: UUID | None = None
    tag: str | None = None
    error_code: str | None = None
    cause_id: UUID | None = None


def check_open(dead_letter: DeadLetter) -> None:
    """Refuse to replay or discard a dead letter that is being replayed, or was replayed or discarded."""
    if dead_letter.status not in OPEN:
        raise Conflict(f"the dead letter is {dead_letter.status}; only one that is NEW or DEAD_AGAIN can be changed")


def replayable_job(job: Job | None) -> Job | None:
    """Return the job that a replay would use; None when it is removed."""
    return None if job is None or job.status == Status.REMOVED else job


def check_wanted(wanted: DeadLetterFilter, limit: int) -> None:
    """Refuse a change without a filter: a mistake must not send or discard everything."""
    if wanted == DeadLetterFilter():
        raise Invalid("say which dead letters: by cause, by job, by tag or by error code")
    if not 1 <= limit <= MOST:
        raise Invalid(f"one request is about 1 to {MOST} dead letters, not {limit}")
