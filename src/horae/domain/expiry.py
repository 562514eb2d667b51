"""How long a due instance may wait: whatever holds it back, its wait has an end.

The time counts from the fire time, or from the birth of the instance where that is later: a backfill, a replay and a
fire that is made up for are born after their fire time. A task that was never sent counts from when it was due, because
it may have been moved to a time in the past.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from horae.domain.admission import HoldReason
from horae.domain.ids import born_at
from horae.domain.instances import Lane, Priority
from horae.domain.jobs import Job
from horae.domain.lifecycle import State
from horae.domain.outcomes import Ended, ErrorCode, SkipReason

DEFAULT_EXPIRES_AFTER_S: Final = 86_400.0
"""Of fires that recur: the next one makes up for it. Tasks wait without end, unless their type says otherwise."""
MAX_MESSAGE_CHARACTERS: Final = 500
EXPLANATIONS: Final = {
    HoldReason.BREAKER: "the circuit breaker of its target is open",
    HoldReason.RETRY_BUDGET: "the retry budget of its target is used up",
    HoldReason.TARGET_CAP: "its target has no room for another call",
}


class DatedInstance(Protocol):
    """What the end of a wait depends on, beside the job."""

    @property
    def id(self) -> UUID:
        """It tells when the instance was born."""
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
        """How often it was sent."""
        ...

    @property
    def business_key(self) -> str | None:
        """Of a task."""
        ...


class WaitingInstance(NamedTuple):
    """An instance that is due and waits, without what only its call would need."""

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
    """Seconds for which a due instance of a job may wait; None: without end."""
    if job.definition.expires_after is not None:
        return job.definition.expires_after
    return DEFAULT_EXPIRES_AFTER_S if job.recurring or job.rolling else None


def expires_at(waiting: DatedInstance, job: Job) -> datetime | None:
    """When the wait of an instance ends; None: never."""
    seconds = expires_after_s(job)
    if seconds is None:
        return None
    since = max(waiting.fire_time, born_at(waiting.id))
    if waiting.business_key is not None and not waiting.attempt:
        since = max(since, waiting.due_at)
    return since + timedelta(seconds=seconds)


def expire(waiting: WaitingInstance, job: Job, held_by: HoldReason | None = None) -> Ended:
    """How an instance ends whose wait is over.

    A fire that was never sent is SKIPPED: the next one makes up for it. What was sent may have taken effect, and a
    task has no next one: they are DEAD, and their dead letters can be replayed.
    """
    message = f"not sent within {expires_after_s(job):g} s"
    if held_by in EXPLANATIONS:
        message += f": {EXPLANATIONS[held_by]}"
    if waiting.error_msg:
        message += f"; last error: {waiting.error_msg}"
    message = message[:MAX_MESSAGE_CHARACTERS]
    if not waiting.attempt and not (job.keyed or job.single):
        return Ended(State.SKIPPED, waiting.retry_count, SkipReason.EXPIRED, error_msg=message)
    return Ended(State.DEAD, waiting.retry_count, error_code=ErrorCode.EXPIRED, error_msg=message)
