"""Misfire policy: what happens to fires whose time passed while no node could fire them."""

from enum import StrEnum
from typing import Final

import msgspec

from horae.domain.errors import InvalidSchedule

ON_TIME_TOLERANCE_S: Final = 60.0
"""Seconds up to which a late fire is not missed."""
MOST: Final = 10_000
"""The highest cap."""
DEFAULT_CAP: Final = 1_000
"""Fires that `all` catches up where no cap is named."""
LONGEST_CATCH_UP_S: Final = 366 * 86_400.0


class OnMisfire(StrEnum):
    """Missed fires are dropped, replaced by one run, or caught up one by one."""

    SKIP = "skip"
    ONCE = "once"
    ALL = "all"


class Misfire(msgspec.Struct, frozen=True, omit_defaults=True):
    """A job's policy for missed fires. A fire at most `ON_TIME_TOLERANCE_S` late is not missed.

    A fire later than `max_lateness` seconds is not caught up. With `all`, at most `cap` of the newest fires are caught
    up, `pace` seconds apart.
    """

    policy: OnMisfire = OnMisfire.ONCE
    max_lateness: float | None = None
    cap: int | None = None
    pace: float = 0.0

    def __post_init__(self) -> None:
        if self.policy is not OnMisfire.ALL and (self.cap is not None or self.pace):
            raise InvalidSchedule(f"cap and pace belong to misfire 'all'; with {self.policy.value!r} they mean nothing")
        if self.policy is OnMisfire.SKIP and self.max_lateness is not None:
            raise InvalidSchedule("misfire 'skip' makes up for nothing, so it has no max_lateness")
        if self.max_lateness is not None and self.max_lateness <= ON_TIME_TOLERANCE_S:
            raise InvalidSchedule(
                f"max_lateness must exceed {ON_TIME_TOLERANCE_S:g} seconds, up to which a fire is on time"
            )
        if self.cap is not None and not 1 <= self.cap <= MOST:
            raise InvalidSchedule(f"a cap is 1 to {MOST} fires")
        if self.pace < 0:
            raise InvalidSchedule("a pace is zero seconds or more")


def check(misfire: Misfire) -> None:
    """Refuse a pace at which the last caught-up fire would be due after more than a year."""
    if (misfire.cap or DEFAULT_CAP) * misfire.pace > LONGEST_CATCH_UP_S:
        raise InvalidSchedule(
            f"{misfire.cap or DEFAULT_CAP} fires that are {misfire.pace:g} s apart take more than a year to make up for"
        )
