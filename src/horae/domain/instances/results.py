"""Results of attempts, and how far running attempts are."""

from datetime import datetime
from typing import Any, Final

import msgspec

from horae.domain.errors import Invalid, ResultTooLarge
from horae.domain.tasks.tasks import MAX_PAYLOAD_BYTES, check_payload

MAX_RESULT_BYTES: Final = MAX_PAYLOAD_BYTES
"""Bytes of a result as JSON."""
LONGEST_PROGRESS: Final = 200
"""Characters of the text of a progress."""
_encode = msgspec.json.Encoder().encode


class AttemptProgress(msgspec.Struct, frozen=True):
    """How far an attempt is: 0 to 100, and what it does, in a few words."""

    percent: float
    text: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.percent <= 100:
            raise Invalid("a progress is 0 to 100 percent")
        if len(self.text) > LONGEST_PROGRESS or not (self.text.isprintable()):
            raise Invalid(f"the text of a progress is at most {LONGEST_PROGRESS} printable characters")


class StoredProgress(msgspec.Struct, frozen=True):
    """A progress as the row of its instance holds it. The text may be encrypted."""

    attempt: int
    percent: float
    text: Any
    at: datetime


def check_result(result: Any) -> None:
    """Refuse results that a row cannot hold. None and UNSET are no results."""
    try:
        size = len(_encode(result)) if result is not msgspec.UNSET else 0
    except RecursionError:
        size = 0  # the check below refuses it by its depth
    if size > MAX_RESULT_BYTES:
        raise ResultTooLarge(f"a result has at most {MAX_RESULT_BYTES} bytes, not {size}")
    check_payload(result)
