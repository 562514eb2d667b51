"""Expiry: how long a due instance may wait.

The time counts from the fire time, or from the insertion of the instance where that is later: instances of backfills,
replays and catch-up are inserted after their fire time. A task that was never sent counts from when it was due, because
it may have been moved to a past time.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from horae.domain.ids import creation_time
from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import ErrorCode, InstanceEnd, SkipReason
from horae.domain.jobs.jobs import Job
from horae.domain.limits.hold_reasons import HoldReason

DEFAULT_EXPIRES_AFTER_S: Final = 86_400.0
"""The default for recurring and rolling jobs, whose next fire makes up for it. Tasks wait without limit by default."""
MAX_MESSAGE_CHARACTERS: Final = 500
EXPLANATIONS: Final = {
    HoldReason.BREAKER: "the circuit breaker of its target is open",
    HoldReason.RETRY_BUDGET: "the retry budget of its target is used up",
    HoldReason.NO_ANSWER: "its target does not answer the calls that it has",
    HoldReason.TARGET_CAP: "its target has no room for another call",
    HoldReason.NO_SLOT: "every slot for long calls is in use",
}
"""The texts for hold reasons in the message of an expired instance."""


class DatedInstance(Protocol):
    """The fields of an instance that its expiry depends on."""

    @property
    def id(self) -> UUID:
        """The id, which contains when the instance was created."""
        ...

    @property
    def fire_time(self) -> datetime:
        """The nominal time."""
        ...

    @property
    def due_at(self) -> datetime:
        """When it may be tried next."""
        ...

    @property
    def attempt(self) -> int:
        """How many attempts were sent."""
        ...

    @property
    def business_key(self) -> str | None:
        """The business key of a task; None otherwise."""
        ...


class WaitingInstance(NamedTuple):
    """A due instance that waits, without the fields that only its call needs."""

    shard: int
    id: UUID
    tenant_id: UUID
    job_id: UUID
    job_version: int
    fire_time: datetime
    due_at: datetime
    state: State
    priority: Priority
    lane: Lane
    attempt: int
    retry_count: int
    business_key: str | None
    error_msg: str | None


def expires_after_s(job: Job) -> float | None:
    """Return for how many seconds a due instance of a job may wait; None: without limit."""
    if job.definition.expires_after is not None:
        return job.definition.expires_after
    return DEFAULT_EXPIRES_AFTER_S if job.recurring or job.rolling else None


def expires_at(waiting: DatedInstance, job: Job) -> datetime | None:
    """Return when the wait of an instance ends; None: never."""
    seconds = expires_after_s(job)
    if seconds is None:
        return None
    since = max(waiting.fire_time, creation_time(waiting.id))
    if waiting.business_key is not None and not waiting.attempt:
        since = max(since, waiting.due_at)
    return since + timedelta(seconds=seconds)


def expire(waiting: WaitingInstance, job: Job, held_by: HoldReason | None = None) -> InstanceEnd:
    """Return how an instance ends whose wait is over.

    A fire that was never sent is SKIPPED, because the next one makes up for it. An attempt that was sent may have taken
    effect, and a task has no next fire: these are DEAD, and their dead letters can be replayed.
    """
    message = f"not sent within {expires_after_s(job):g} s"
    if held_by in EXPLANATIONS:
        message += f": {EXPLANATIONS[held_by]}"
    if waiting.error_msg:
        message += f"; last error: {waiting.error_msg}"
    message = message[:MAX_MESSAGE_CHARACTERS]
    if not waiting.attempt and not (job.keyed or job.single):
        return InstanceEnd(State.SKIPPED, waiting.retry_count, SkipReason.EXPIRED, error_msg=message)
    return InstanceEnd(State.DEAD, waiting.retry_count, error_code=ErrorCode.EXPIRED, error_msg=message)
