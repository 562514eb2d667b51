"""What a worker says and hears. It claims, is heard from, and finishes, each time with its completion token."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from math import isfinite
from typing import Any, Final, assert_never
from uuid import UUID

import msgspec

from horae.domain.compensations import Compensation
from horae.domain.errors import Invalid
from horae.domain.outcomes import Declined, ErrorCode, Outcome, Retryable, Returned, Success, Unrecoverable
from horae.domain.targets import LONGEST_CLAIM

LONGEST_WORKER: Final = 200
LONGEST_MESSAGE: Final = 2048
MOST: Final = 1000
"""How many instances one request may speak of."""


class Claimed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One attempt in a worker's hands, until its deadline."""

    instance_id: UUID
    shown_id: str
    job: str
    attempt: int
    fire_time: datetime
    idempotency_key: str
    deadline: datetime
    token: str
    claimed_at: datetime
    key: str | None = None
    payload: Any = None


class Held(msgspec.Struct, frozen=True):
    """An attempt a worker still works on, and within how many seconds it will be heard again."""

    instance_id: UUID
    attempt: int
    token: str
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None and not 0 < self.seconds <= LONGEST_CLAIM:
            raise Invalid(f"a heartbeat is good for more than 0 and at most {LONGEST_CLAIM:g} seconds")


class HeartbeatAnswer(msgspec.Struct, frozen=True):
    """Whether an attempt is still the worker's. Without a deadline it could not be asked just now: beat again."""

    instance_id: UUID
    attempt: int
    yours: bool
    deadline: datetime | None = None


class Failed(msgspec.Struct, frozen=True):
    """The worker's handler failed; whether trying again may help, and not before how many seconds.

    What is not `counted` did not fail: it was given back.
    """

    message: str
    retryable: bool = True
    retry_after: float | None = None
    counted: bool = True

    def __post_init__(self) -> None:
        if self.retry_after is not None and not (isfinite(self.retry_after) and self.retry_after >= 0):
            raise Invalid("retry_after is a number of seconds, zero or more")


Report = Success | Declined | Failed


class Finish(msgspec.Struct, frozen=True, eq=False):
    """What came of an attempt, as its worker reports it, and the tasks that are to follow from it."""

    instance_id: UUID
    attempt: int
    token: str
    said: Report
    compensations: Sequence[Compensation] = ()


class Verdict(StrEnum):
    """What became of a report."""

    DONE = "done"
    LATE = "late"  # no longer theirs: cancelled, replaced, rescued, or never theirs
    NOT_NOW = "not_now"  # a shard is moving or a cell is down: ask again with the same token
    INVALID = "invalid"  # the report itself is wrong: said again it is refused again


class FinishAnswer(msgspec.Struct, frozen=True):
    """What became of one report."""

    instance_id: UUID
    attempt: int
    verdict: Verdict


def outcome_of(said: Report) -> Outcome:
    """A report as the rules have it. Messages are cut, and keep no byte that PostgreSQL refuses."""
    match said:
        case Success():
            return said
        case Declined(message):
            return Declined(_clean(message))
        case Failed(message, _, retry_after, False):
            return Returned(retry_after or 0.0, _clean(message))
        case Failed(message, True, retry_after):
            return Retryable(ErrorCode.HANDLER, _clean(message), retry_after)
        case Failed(message):
            return Unrecoverable(ErrorCode.HANDLER, _clean(message))
        case other:
            assert_never(other)


def check_worker(worker_id: str) -> None:
    """Refuse names that could not be told apart or printed later."""
    if not worker_id or len(worker_id) > LONGEST_WORKER or not worker_id.isprintable():
        raise Invalid(f"a worker's id is 1 to {LONGEST_WORKER} printable characters")


def check_many(many: int) -> None:
    """Refuse requests that are too big for one transaction, or ask for nothing."""
    if not 1 <= many <= MOST:
        raise Invalid(f"one request speaks of 1 to {MOST} instances, not of {many}")


def _clean(message: str) -> str:
    return message[:LONGEST_MESSAGE].replace("\0", "\N{REPLACEMENT CHARACTER}")
