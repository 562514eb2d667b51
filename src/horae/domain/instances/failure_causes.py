"""Failure causes: what dead letters have in common.

Dead letters of one job with the same error code and the same normalised message have the same failure cause. The
message is normalised: what differs from one failure to the next (numbers, ids, URLs, quoted values) is replaced.
"""

import re
from datetime import datetime
from hashlib import sha256
from typing import Final
from uuid import UUID

import msgspec

MAX_READ: Final = 1000
"""Characters of a message that are looked at."""
MAX_NORMALISED: Final = 200
"""Characters of a normalised message."""
NO_MESSAGE: Final = ""
RULES: Final = (
    (re.compile(r"\s+"), " "),
    (re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s\"'<>]+"), "<url>"),
    (re.compile(r"\"[^\"]{0,500}\"|`[^`]{0,500}`|(?<!\w)'[^']{0,500}'(?!\w)"), "<text>"),
    (re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+"), "<address>"),
    (re.compile(r"\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b"), "<id>"),
    (re.compile(r"\b[a-z]{3}_[0-9a-z]{26}\b"), "<id>"),
    (re.compile(r"\b(?:0x[0-9A-Fa-f]+|(?=[A-Fa-f]*\d)(?=\d*[A-Fa-f])[0-9A-Fa-f]{8,})\b"), "<id>"),
    (re.compile(r"\b(?=[A-Za-z_-]*\d)(?=\d*[A-Za-z_-])[A-Za-z0-9_-]{16,}\b"), "<id>"),
)
"""What is replaced, in this order. Numbers follow, because ids hold digits; a number of many digits is no id."""
NUMBER: Final = re.compile(r"\b((?:HTTP|status|answered|code)[ :=]\d{3})\b|\d+(?:[.,:]\d+)*", re.IGNORECASE)
STATUS: Final = re.compile(r"\d{3}")


class FailureCause(msgspec.Struct, frozen=True, kw_only=True):
    """A failure cause with the open dead letters that have it.

    `last_hour` and `last_day` count those that died then; `day_before` those of the day before the last day. Versions
    are those of the job that died. `sample` is the newest dead letter.
    """

    id: UUID
    job_id: UUID
    error_code: str
    message: str
    open: int
    last_hour: int
    last_day: int
    day_before: int
    first_at: datetime
    last_at: datetime
    oldest_version: int
    newest_version: int
    sample: UUID
    job: str | None = None
    target: str | None = None

    @property
    def trend(self) -> str:
        """Whether more or fewer died in the last day than in the day before."""
        if self.last_day == self.day_before:
            return "steady"
        return "rising" if self.last_day > self.day_before else "falling"


def normalise_message(message: str | None) -> str:
    """Return a message without what differs from one failure to the next. A status of three digits stays."""
    text = (message or NO_MESSAGE)[:MAX_READ].strip()
    if STATUS.fullmatch(text):
        return text
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return NUMBER.sub(lambda found: found[1] or "<n>", text)[:MAX_NORMALISED]


def cause_id_of(job_id: UUID, error_code: str, message: str | None) -> UUID:
    """Return the id of the failure cause of a dead letter. It is the same in every cell and process."""
    parts = (job_id.hex, error_code, normalise_message(message))
    return UUID(bytes=sha256("\0".join(parts).encode(errors="surrogatepass")).digest()[:16])


def merge_causes(one: FailureCause, other: FailureCause) -> FailureCause:
    """Return what two cells together have of one cause."""
    newest = max(one, other, key=lambda cause: (cause.last_at, cause.sample))
    return msgspec.structs.replace(
        newest,
        open=one.open + other.open,
        last_hour=one.last_hour + other.last_hour,
        last_day=one.last_day + other.last_day,
        day_before=one.day_before + other.day_before,
        first_at=min(one.first_at, other.first_at),
        oldest_version=min(one.oldest_version, other.oldest_version),
        newest_version=max(one.newest_version, other.newest_version),
    )
