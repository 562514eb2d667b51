"""What came of an attempt, and what that means for its instance.

Eight outcomes, each named. Only attempts that were sent count: what our own node lost costs neither an attempt
nor a failure, a worker that vanished after its claim counts as a crash and the third one is final.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, assert_never

import msgspec

from horae.domain.instances import Instance
from horae.domain.lifecycle import State
from horae.domain.retries import RetryPolicy

MAX_CRASHES: Final = 3
MAX_SEALED_PAUSE: Final = timedelta(seconds=30)
"""The longest pause between two tries to open what an instance carries."""


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


UNSENT: Final = frozenset(
    {ErrorCode.NO_TARGET, ErrorCode.NO_SECRET, ErrorCode.UNSENDABLE, ErrorCode.SEALED, ErrorCode.REFUSED}
)
"""Reasons for which nothing was sent: they are ours, and the target had no say in them."""


class SkipReason(StrEnum):
    """Why a fire left a verdict instead of a run."""

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


class Success(msgspec.Struct, frozen=True):
    """The receiver took it."""


class Retryable(msgspec.Struct, frozen=True):
    """It failed, and trying again may help."""

    code: ErrorCode
    message: str
    retry_after: float | None = None


class Unrecoverable(msgspec.Struct, frozen=True):
    """It failed, and trying again cannot help."""

    code: ErrorCode
    message: str


class Lost(msgspec.Struct, frozen=True):
    """The one who ran it is gone. `ours`: our own node lost it; otherwise a worker vanished after its claim."""

    ours: bool = True


class Declined(msgspec.Struct, frozen=True):
    """The receiver answered that there is nothing to do, and did nothing: no key was burnt."""

    message: str = ""


class Accepted(msgspec.Struct, frozen=True):
    """The receiver works on it and will answer with its completion token; it must be heard within `seconds`."""

    seconds: float


class Probed(msgspec.Struct, frozen=True):
    """It failed for a reason that says nothing about the job, and costs it nothing.

    It was the probe of its target's breaker, or nothing was sent for want of a key or a place of ours.
    """

    code: ErrorCode
    message: str


class Returned(msgspec.Struct, frozen=True):
    """Its worker gives it back: not begun, or not yet to be done. It is due again in so many seconds, uncounted."""

    seconds: float
    message: str = ""


class Said(StrEnum):
    """What an outcome says about the target, whatever it says about the instance."""

    WELL = "well"
    EARLY = "early"
    """It is well, and wants this one again later (425): that is no failure of the target's."""
    BADLY = "badly"
    NOTHING = "nothing"
    """It was never asked."""


Outcome = Success | Retryable | Unrecoverable | Lost | Declined | Accepted | Probed | Returned


class Ended(msgspec.Struct, frozen=True):
    """The instance is over."""

    state: State
    retry_count: int
    reason: SkipReason | None = None
    error_code: ErrorCode | None = None
    error_msg: str | None = None

    @property
    def tag(self) -> str | None:
        """What a replay may ask for by name: the failures that pass by themselves."""
        return "transient_error" if self.error_code in TRANSIENT else None


class Again(msgspec.Struct, frozen=True):
    """The instance is due again."""

    state: State
    due_at: datetime
    attempt: int
    retry_count: int
    crash_count: int
    error_code: ErrorCode | None = None
    error_msg: str | None = None


class Extended(msgspec.Struct, frozen=True):
    """The attempt goes on, until a new deadline."""

    deadline: datetime


def _pause_after(code: ErrorCode, tries: int) -> timedelta:
    """How long an instance that was not tried waits at least: where it cannot be opened, twice as long each time."""
    if code != ErrorCode.SEALED:
        return timedelta()
    return min(timedelta(seconds=2 ** min(max(tries - 1, 0), 10)), MAX_SEALED_PAUSE)


def settle(
    ran: Instance, outcome: Outcome, policy: RetryPolicy, now: datetime, chance: float
) -> Ended | Again | Extended:
    """What an outcome makes of a RUNNING instance. `chance` in [0, 1) spreads the retries."""
    match outcome:
        case Success():
            return Ended(State.SUCCESS, ran.retry_count)
        case Declined(message):
            return Ended(State.SKIPPED, ran.retry_count, SkipReason.DECLINED, error_msg=message or None)
        case Unrecoverable(code, message):
            return Ended(State.DEAD, ran.retry_count + 1, error_code=code, error_msg=message)
        case Retryable(code, message, retry_after):
            failures = ran.retry_count + 1
            if policy.exhausted(failures):
                return Ended(State.DEAD, failures, error_code=code, error_msg=message)
            due_at = now + policy.delay(failures, chance, retry_after)
            return Again(State.FAIL, due_at, ran.attempt, failures, ran.crash_count, code, message)
        case Accepted(seconds):
            return Extended(now + timedelta(seconds=seconds))
        case Probed(code, message):
            state = State.FAIL if ran.retry_count else State.INIT
            due_at = now + max(policy.delay(1, chance), _pause_after(code, ran.attempt - ran.retry_count))
            return Again(state, due_at, ran.attempt, ran.retry_count, ran.crash_count, code, message)
        case Returned(seconds):
            due_at = now + timedelta(seconds=seconds)
            return _due_again(ran, due_at, attempt=ran.attempt - 1, crashes=ran.crash_count)
        case Lost(ours=True):
            return _due_again(ran, now, attempt=ran.attempt - 1, crashes=ran.crash_count)
        case Lost():
            crashes = ran.crash_count + 1
            if crashes >= MAX_CRASHES:
                message = f"its worker vanished {crashes} times"
                return Ended(State.DEAD, ran.retry_count, error_code=ErrorCode.CRASH_LOOP, error_msg=message)
            return _due_again(ran, now, attempt=ran.attempt, crashes=crashes)
        case other:
            assert_never(other)


def removed(ran: Instance) -> Ended:
    """What becomes of an instance whose job is removed: it leaves a row that says so."""
    return Ended(State.SKIPPED, ran.retry_count, SkipReason.REMOVED)


def _due_again(ran: Instance, now: datetime, *, attempt: int, crashes: int) -> Again:
    state = State.FAIL if ran.retry_count else State.INIT
    return Again(state, now, attempt, ran.retry_count, crashes, None, ran.error_msg)


def said_by(outcome: Outcome) -> Said:
    """What a target's answer says about the target."""
    if type(outcome) is Success:
        return Said.WELL  # nearly always; the checks below are slow for what they do not match
    if isinstance(outcome, Probed) or (isinstance(outcome, (Retryable, Unrecoverable)) and outcome.code in UNSENT):
        return Said.NOTHING
    if not isinstance(outcome, Retryable):
        return Said.WELL
    return Said.EARLY if outcome.code == ErrorCode.HTTP_425 else Said.BADLY
