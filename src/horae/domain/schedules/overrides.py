"""Overrides: a single fire is skipped or moved, without a change of the schedule."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from horae.domain.errors import InvalidSchedule
from horae.domain.schedules import expected
from horae.domain.schedules.triggers import Trigger

MOST_OVERRIDES: Final = 200
"""Overrides of one job: each is checked at every change and read at every fire."""


class Override(msgspec.Struct, frozen=True):
    """The fire at `at` is due at `to` instead, or skipped. It keeps its fire time, and so its idempotency key."""

    at: datetime
    to: datetime | None = None


def check(trigger: Trigger, override: Override) -> None:
    """Refuse a time that is no fire of this schedule, and a move past a neighbouring fire."""
    if expected.after(trigger, override.at - expected.TIME_RESOLUTION) != override.at:
        raise InvalidSchedule(f"{override.at.isoformat()} is not a fire of this schedule")
    if override.to is None:
        return
    later = expected.after(trigger, override.at)
    if later is not None and override.to >= later:
        raise InvalidSchedule(f"the next fire is at {later.isoformat()}; one cannot be moved to it or past it")
    if override.to < override.at:
        # Between the new time and the old one there must be no other fire.
        sooner = expected.after(trigger, override.to - expected.TIME_RESOLUTION)
        if sooner != override.at:
            raise InvalidSchedule("a fire cannot be moved to the one before it or past it")


def check_count(overrides: Sequence[Override]) -> None:
    """Refuse more overrides than a job may have."""
    if len(overrides) > MOST_OVERRIDES:
        raise InvalidSchedule(
            f"a job has at most {MOST_OVERRIDES} occurrences to come that are skipped or moved: change its schedule"
        )
