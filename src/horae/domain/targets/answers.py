"""The meaning of an HTTP answer: 2xx is success, some failures are retried, all others are final."""

from collections.abc import Mapping
from typing import Final

from horae.domain.foreign import read_http_date
from horae.domain.instances.outcomes import (
    AcceptedCall,
    DeclinedCall,
    ErrorCode,
    Outcome,
    Retryable,
    Success,
    Unrecoverable,
)

OUTCOME_HEADER: Final = "horae-outcome"
PATIENT: Final = {408: ErrorCode.HTTP_408, 425: ErrorCode.HTTP_425, 429: ErrorCode.HTTP_429}
"""Client errors (4xx) that are retried."""
DEFAULT_COMPLETION_TIMEOUT_S: Final = 300.0
SUCCESS: Final = Success()


def judge(status: int, headers: Mapping[str, str], completion_seconds: float = DEFAULT_COMPLETION_TIMEOUT_S) -> Outcome:
    """Return the outcome of an answered attempt. Header names are in lower case."""
    if 200 <= status < 300:
        if OUTCOME_HEADER in headers and headers[OUTCOME_HEADER].strip().lower() == "declined":
            return DeclinedCall()
        return AcceptedCall(completion_seconds) if status == 202 else SUCCESS
    message = f"answered {status}"
    if status in PATIENT or status >= 500:
        code = PATIENT.get(status, ErrorCode.HTTP_5XX)
        return Retryable(code, message, retry_after(headers.get("retry-after"), headers.get("date")))
    if 300 <= status < 400:
        return Unrecoverable(ErrorCode.REDIRECT, f"{message}; redirects are not followed")
    return Unrecoverable(ErrorCode.HTTP_4XX, message)


def retry_after(value: str | None, date: str | None = None) -> float | None:
    """Return the seconds that a target asks us to wait.

    A date counts from the answer's own `Date`, because the target's clock may differ from ours.
    """
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value.strip()[:9])
    until, now = read_http_date(value), read_http_date(date)
    return None if until is None or now is None else max(0.0, (until - now).total_seconds())
