"""The worker protocol: a worker claims, sends heartbeats and finishes, each time with its completion token."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from math import isfinite
from typing import Any, Final, assert_never
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.graphs.graphs import GRAPH_QUEUE
from horae.domain.instances.outcomes import (
    DeclinedCall,
    ErrorCode,
    Outcome,
    Retryable,
    ReturnedAttempt,
    Success,
    Unrecoverable,
)
from horae.domain.instances.results import AttemptProgress
from horae.domain.targets.targets import MAX_CLAIM_S
from horae.domain.tasks.compensations import Compensation

LONGEST_WORKER: Final = 200
"""Characters of a worker's id."""
LONGEST_MESSAGE: Final = 2048
"""Characters that are kept of a message."""
MOST: Final = 1000
"""Instances in one request."""


class ClaimedAttempt(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One attempt that a worker has claimed, until its deadline. `sampled`: whether its trace is recorded."""

    instance_id: UUID
    public_id: str
    job: str
    attempt: int
    fire_time: datetime
    idempotency_key: str
    deadline: datetime
    token: str
    claimed_at: datetime
    key: str | None = None
    payload: Any = None
    sampled: bool = True


class Heartbeat(msgspec.Struct, frozen=True):
    """An attempt that a worker still works on, for how many seconds the heartbeat is valid, and how far it is."""

    instance_id: UUID
    attempt: int
    token: str
    seconds: float | None = None
    progress: AttemptProgress | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None and not 0 < self.seconds <= MAX_CLAIM_S:
            raise Invalid(f"a heartbeat is good for more than 0 and at most {MAX_CLAIM_S:g} seconds")


class HeartbeatAnswer(msgspec.Struct, frozen=True):
    """Whether the attempt still belongs to the worker. No deadline: it could not be checked now, send it again."""

    instance_id: UUID
    attempt: int
    yours: bool
    deadline: datetime | None = None


class FailureReport(msgspec.Struct, frozen=True):
    """The worker's handler failed: whether a retry may help, and after how many seconds.

    `counted` False: the attempt did not fail, the worker gives it back.
    """

    message: str
    retryable: bool = True
    retry_after: float | None = None
    counted: bool = True

    def __post_init__(self) -> None:
        if self.retry_after is not None and not (isfinite(self.retry_after) and self.retry_after >= 0):
            raise Invalid("retry_after is a number of seconds, zero or more")


Report = Success | DeclinedCall | FailureReport


class Finish(msgspec.Struct, frozen=True, eq=False):
    """The worker's report about an attempt, the tasks that should follow from it, and what it returned, or None."""

    instance_id: UUID
    attempt: int
    token: str
    report: Report
    compensations: Sequence[Compensation] = ()
    result: Any = None


class ReportVerdict(StrEnum):
    """The answer to a report."""

    DONE = "done"
    LATE = "late"  # not the worker's attempt: cancelled, replaced, rescued, or never claimed by it
    NOT_NOW = "not_now"  # a shard is moving or a cell is down: send it again with the same token
    INVALID = "invalid"  # the report itself is wrong: it would be refused again
    FULL = "full"  # only for lines: the tenant has logged as much as it may today


class FinishAnswer(msgspec.Struct, frozen=True):
    """The answer to one report."""

    instance_id: UUID
    attempt: int
    verdict: ReportVerdict


class WorkerDrained(Exception):
    """A person drained the worker that asks for work: it gets none. Its poll says so, and is no error."""


def outcome_of(said: Report) -> Outcome:
    """Return the outcome of a report. Messages are cut, and lose characters that PostgreSQL refuses."""
    match said:
        case Success():
            return said
        case DeclinedCall(message):
            return DeclinedCall(_clean(message))
        case FailureReport(message, _, retry_after, False):
            return ReturnedAttempt(retry_after or 0.0, _clean(message))
        case FailureReport(message, True, retry_after):
            return Retryable(ErrorCode.HANDLER, _clean(message), retry_after)
        case FailureReport(message):
            return Unrecoverable(ErrorCode.HANDLER, _clean(message))
        case other:
            assert_never(other)


def check_worker(worker_id: str) -> None:
    """Refuse ids that cannot be printed or distinguished."""
    if not worker_id or len(worker_id) > LONGEST_WORKER or not worker_id.isprintable():
        raise Invalid(f"a worker's id is 1 to {LONGEST_WORKER} printable characters")


def check_queue(name: str) -> None:
    """Refuse the queue in which runs of graphs wait for a node."""
    if name == GRAPH_QUEUE:
        raise Invalid(f"the queue {GRAPH_QUEUE!r} is for the runs of graphs; no worker may claim from it")


def check_many(many: int) -> None:
    """Refuse requests that are empty, or too large for one transaction."""
    if not 1 <= many <= MOST:
        raise Invalid(f"one request speaks of 1 to {MOST} instances, not of {many}")


def _clean(message: str) -> str:
    return message[:LONGEST_MESSAGE].replace("\0", "\N{REPLACEMENT CHARACTER}")
