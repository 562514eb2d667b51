"""Compensations: tasks that an attempt requests with its result, for work that it could not do itself."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from horae.domain.errors import Invalid
from horae.domain.tasks import tasks

MOST: Final = 20
"""Compensations that one attempt may request."""


class Compensation(msgspec.Struct, frozen=True, omit_defaults=True):
    """A requested task; without a time it is due when the attempt ended."""

    type: str
    key: str
    at: datetime | None = None
    payload: Any = msgspec.UNSET
    version: int | None = None


def check(asked: Sequence[Compensation]) -> None:
    """Refuse requests that can never become tasks: after the result is stored, no caller is left to see the error."""
    if len(asked) > MOST:
        raise Invalid(f"one attempt asks for at most {MOST} tasks, not {len(asked)}")
    for one in asked:
        tasks.check_key(one.key)
        tasks.check_time(one.at)
        tasks.check_payload(one.payload)
