"""What an HTTP answer means: 2xx took it, some failures pass by themselves, the rest never will."""

from collections.abc import Mapping
from typing import Final

from horae.domain.foreign import read_http_date
from horae.domain.outcomes import Accepted, Declined, ErrorCode, Outcome, Retryable, Success, Unrecoverable

OUTCOME_HEADER: Final = "horae-outcome"
PATIENT: Final = {408: ErrorCode.HTTP_408, 425: ErrorCode.HTTP_425, 429: ErrorCode.HTTP_429}
COMPLETION_SECONDS: Final = 300.0
SUCCESS: Final = Success()


def judge(status: int, headers: Mapping[str, str], completion_seconds: float = COMPLETION_SECONDS) -> Outcome:
    """The outcome of an answered attempt. Header names are lower case."""
    if 200 <= status < 300:
        if OUTCOME_HEADER in headers and headers[OUTCOME_HEADER].strip().lower() == "declined":
            return Declined()
        return Accepted(completion_seconds) if status == 202 else SUCCESS
    message = f"answered {status}"
    if status in PATIENT or status >= 500:
        code = PATIENT.get(status, ErrorCode.HTTP_5XX)
        return Retryable(code, message, retry_after(headers.get("retry-after"), headers.get("date")))
    if 300 <= status < 400:
        return Unrecoverable(ErrorCode.REDIRECT, f"{message}; redirects are not followed")
    return Unrecoverable(ErrorCode.HTTP_4XX, message)


def retry_after(value: str | None, date: str | None = None) -> float | None:
    """The seconds a target asks us to wait. A time counts from the answer's own `Date`, as its clock is not ours."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value.strip()[:9])
    until, now = read_http_date(value), read_http_date(date)
    return None if until is None or now is None else max(0.0, (until - now).total_seconds())
