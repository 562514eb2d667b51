"""Tasks that an attempt asks for with its end: what it could not do is done by them, and retried on its own."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from horae.domain import tasks
from horae.domain.errors import Invalid

MOST: Final = 20
"""How many one attempt may ask for."""


class Compensation(msgspec.Struct, frozen=True, omit_defaults=True):
    """A task that is to be: due when the attempt ended where no time is given."""

    type: str
    key: str
    at: datetime | None = None
    payload: Any = msgspec.UNSET
    version: int | None = None


def check(asked: Sequence[Compensation]) -> None:
    """Refuse what could never become tasks: once written, nobody is there to be told."""
    if len(asked) > MOST:
        raise Invalid(f"one attempt asks for at most {MOST} tasks, not {len(asked)}")
    for one in asked:
        tasks.check_key(one.key)
        tasks.check_time(one.at)
        tasks.check_payload(one.payload)
