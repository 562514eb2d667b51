"""What an HTTP answer means: 2xx took it, some failures pass by themselves, the rest never will."""

from collections.abc import Mapping
from typing import Final

from horae.domain.outcomes import Declined, ErrorCode, Outcome, Retryable, Success, Unrecoverable

OUTCOME_HEADER: Final = "horae-outcome"
PATIENT: Final = {408: ErrorCode.HTTP_408, 425: ErrorCode.HTTP_425, 429: ErrorCode.HTTP_429}


def judge(status: int, headers: Mapping[str, str]) -> Outcome:
    """The outcome of an answered attempt. Header names are lower case."""
    message = f"answered {status}"
    if 200 <= status < 300:
        return Declined() if headers.get(OUTCOME_HEADER, "").strip().lower() == "declined" else Success()
    if status in PATIENT or status >= 500:
        code = PATIENT.get(status, ErrorCode.HTTP_5XX)
        return Retryable(code, message, retry_after(headers.get("retry-after")))
    if 300 <= status < 400:
        return Unrecoverable(ErrorCode.REDIRECT, f"{message}; redirects are not followed")
    return Unrecoverable(ErrorCode.HTTP_4XX, message)


def retry_after(value: str | None) -> float | None:
    """The seconds a target asks us to wait; its dates are ignored, because its clock is not ours."""
    if value is None or not value.strip().isdecimal():
        return None
    return float(value.strip()[:9])
