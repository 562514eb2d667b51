"""Outcomes of attempts, and what they mean for their instances.

There are eight outcomes. Only attempts that were sent count: an attempt that our own node lost costs neither an attempt
nor a failure. A worker that vanishes after its claim counts as a crash, and the third crash is final.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, assert_never

import msgspec

from horae.domain.instances.instances import Instance
from horae.domain.instances.lifecycle import State
from horae.domain.instances.retries import RetryPolicy

MAX_CRASHES: Final = 3
"""The crash that is final."""
MAX_DECRYPT_RETRY_PAUSE: Final = timedelta(seconds=30)
"""The longest pause between two tries to decrypt the payload of an instance."""


class ErrorCode(StrEnum):
    """The closed list of reasons for which an attempt fails."""

    TIMEOUT = "TIMEOUT"
    CONNECT = "CONNECT"
    TLS = "TLS"
    PROTOCOL = "PROTOCOL"
    HTTP_408 = "HTTP_408"
    HTTP_425 = "HTTP_425"
    HTTP_429 = "HTTP_429"
    HTTP_5XX = "HTTP_5XX"
    HTTP_4XX = "HTTP_4XX"
    REDIRECT = "REDIRECT"
    HANDLER = "HANDLER"
    REFUSED = "REFUSED"
    CRASH_LOOP = "CRASH_LOOP"
    NO_TARGET = "NO_TARGET"
    NO_SECRET = "NO_SECRET"  # noqa: S105 - a reason, not a secret
    UNSENDABLE = "UNSENDABLE"
    SEALED = "SEALED"
    EXPIRED = "EXPIRED"


TRANSIENT: Final = frozenset(
    {ErrorCode.TIMEOUT, ErrorCode.CONNECT, ErrorCode.HTTP_429, ErrorCode.HTTP_5XX, ErrorCode.EXPIRED}
)
"""Failures that often pass by themselves."""


UNSENT: Final = frozenset(
    {ErrorCode.NO_TARGET, ErrorCode.NO_SECRET, ErrorCode.UNSENDABLE, ErrorCode.SEALED, ErrorCode.REFUSED}
)
"""Reasons for which nothing was sent: the cause is ours, not the target's."""


class SkipReason(StrEnum):
    """Why a fire was recorded and not run."""

    PAUSED = "PAUSED"
    MISFIRE = "MISFIRE"
    TOO_LATE = "TOO_LATE"
    OVER_CAP = "OVER_CAP"
    OVERLAP = "OVERLAP"
    CALENDAR = "CALENDAR"
    CALENDAR_UNKNOWN = "CALENDAR_UNKNOWN"
    REQUESTED = "REQUESTED"
    DST_GAP = "DST_GAP"
    DECLINED = "DECLINED"
    REFUSED = "REFUSED"
    REMOVED = "REMOVED"
    EXPIRED = "EXPIRED"
    PEAK = "PEAK"


class Success(msgspec.Struct, frozen=True):
    """The receiver accepted the call."""


class Retryable(msgspec.Struct, frozen=True):
    """The attempt failed; a retry may help. `retry_after` is in seconds."""

    code: ErrorCode
    message: str
    retry_after: float | None = None


class Unrecoverable(msgspec.Struct, frozen=True):
    """The attempt failed; a retry cannot help."""

    code: ErrorCode
    message: str


class LostAttempt(msgspec.Struct, frozen=True):
    """The runner of the attempt is gone. `ours`: our own node lost it; otherwise a worker vanished after its claim."""

    ours: bool = True


class DeclinedCall(msgspec.Struct, frozen=True):
    """The receiver answered that there is nothing to do, and did nothing."""

    message: str = ""


class AcceptedCall(msgspec.Struct, frozen=True):
    """The receiver works on the call and will answer with its completion token within `seconds`."""

    seconds: float


class FailedProbe(msgspec.Struct, frozen=True):
    """The attempt failed for a reason that says nothing about the job, and costs it no failure.

    It was the probe of its target's breaker, or nothing was sent because we lacked a key or a place.
    """

    code: ErrorCode
    message: str


class ReturnedAttempt(msgspec.Struct, frozen=True):
    """Its worker gives the attempt back, not started or too early. It is due again in `seconds`, without a count."""

    seconds: float
    message: str = ""


class TargetHealth(StrEnum):
    """What an outcome says about the target, independent of the instance."""

    OK = "ok"
    TOO_EARLY = "too early"
    """The target works, and wants this call again later (425): that is no failure of the target."""
    FAILED = "failed"
    UNKNOWN = "unknown"
    """The target was not called."""


Outcome = (
    Success | Retryable | Unrecoverable | LostAttempt | DeclinedCall | AcceptedCall | FailedProbe | ReturnedAttempt
)
WORDS: Final[Mapping[type, str]] = {
    Success: "success",
    Retryable: "retryable",
    Unrecoverable: "unrecoverable",
    LostAttempt: "lost",
    DeclinedCall: "declined",
    AcceptedCall: "accepted",
    FailedProbe: "probed",
    ReturnedAttempt: "returned",
}
"""The names of outcomes for people."""


class InstanceEnd(msgspec.Struct, frozen=True):
    """The instance ends."""

    state: State
    retry_count: int
    reason: SkipReason | None = None
    error_code: ErrorCode | None = None
    error_msg: str | None = None

    @property
    def tag(self) -> str | None:
        """The tag by which a replay can select the failures that often pass by themselves."""
        return "transient_error" if self.error_code in TRANSIENT else None


class NextAttempt(msgspec.Struct, frozen=True):
    """The instance is due again."""

    state: State
    due_at: datetime
    attempt: int
    retry_count: int
    crash_count: int
    error_code: ErrorCode | None = None
    error_msg: str | None = None


class DeadlineExtension(msgspec.Struct, frozen=True):
    """The attempt continues until a new deadline."""

    deadline: datetime


def _pause_after(code: ErrorCode, tries: int) -> timedelta:
    """Return the least wait of an instance that was not sent: it doubles each time where it cannot be decrypted."""
    if code != ErrorCode.SEALED:
        return timedelta()
    return min(timedelta(seconds=2 ** min(max(tries - 1, 0), 10)), MAX_DECRYPT_RETRY_PAUSE)


def settle(
    ran: Instance, outcome: Outcome, policy: RetryPolicy, now: datetime, randomness: float
) -> InstanceEnd | NextAttempt | DeadlineExtension:
    """Return what an outcome does to a RUNNING instance: it ends, is due again, or gets a new deadline.

    `randomness` in [0, 1) spreads the retries.
    """
    match outcome:
        case Success():
            return InstanceEnd(State.SUCCESS, ran.retry_count)
        case DeclinedCall(message):
            return InstanceEnd(State.SKIPPED, ran.retry_count, SkipReason.DECLINED, error_msg=message or None)
        case Unrecoverable(code, message):
            return InstanceEnd(State.DEAD, ran.retry_count + 1, error_code=code, error_msg=message)
        case Retryable(code, message, retry_after):
            failures = ran.retry_count + 1
            if policy.is_exhausted(failures):
                return InstanceEnd(State.DEAD, failures, error_code=code, error_msg=message)
            due_at = now + policy.delay(failures, randomness, retry_after)
            return NextAttempt(State.FAIL, due_at, ran.attempt, failures, ran.crash_count, code, message)
        case AcceptedCall(seconds):
            return DeadlineExtension(now + timedelta(seconds=seconds))
        case FailedProbe(code, message):
            state = State.FAIL if ran.retry_count else State.INIT
            due_at = now + max(policy.delay(1, randomness), _pause_after(code, ran.attempt - ran.retry_count))
            return NextAttempt(state, due_at, ran.attempt, ran.retry_count, ran.crash_count, code, message)
        case ReturnedAttempt(seconds):
            due_at = now + timedelta(seconds=seconds)
            return _due_again(ran, due_at, attempt=ran.attempt - 1, crashes=ran.crash_count)
        case LostAttempt(ours=True):
            return _due_again(ran, now, attempt=ran.attempt - 1, crashes=ran.crash_count)
        case LostAttempt():
            crashes = ran.crash_count + 1
            if crashes >= MAX_CRASHES:
                message = f"its worker vanished {crashes} times"
                return InstanceEnd(State.DEAD, ran.retry_count, error_code=ErrorCode.CRASH_LOOP, error_msg=message)
            return _due_again(ran, now, attempt=ran.attempt, crashes=crashes)
        case other:
            assert_never(other)


def end_of_removed_job(ran: Instance) -> InstanceEnd:
    """Return the end of an instance whose job is removed: it leaves a SKIPPED row."""
    return InstanceEnd(State.SKIPPED, ran.retry_count, SkipReason.REMOVED)


def _due_again(ran: Instance, now: datetime, *, attempt: int, crashes: int) -> NextAttempt:
    state = State.FAIL if ran.retry_count else State.INIT
    return NextAttempt(state, now, attempt, ran.retry_count, crashes, None, ran.error_msg)


def health_by(outcome: Outcome) -> TargetHealth:
    """Return what an outcome says about the target."""
    if type(outcome) is Success:
        return TargetHealth.OK  # the usual case; the checks below are slow where they do not match
    if isinstance(outcome, FailedProbe) or (isinstance(outcome, (Retryable, Unrecoverable)) and outcome.code in UNSENT):
        return TargetHealth.UNKNOWN
    if not isinstance(outcome, Retryable):
        return TargetHealth.OK
    return TargetHealth.TOO_EARLY if outcome.code == ErrorCode.HTTP_425 else TargetHealth.FAILED
