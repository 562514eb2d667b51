"""All policies of a schedule, and which of them contradict each other."""

from datetime import datetime
from typing import Final

import msgspec

from horae.domain.errors import InvalidSchedule
from horae.domain.schedules.calendars import CalendarUse
from horae.domain.schedules.misfire import Misfire, OnMisfire
from horae.domain.schedules.overlap import OnOverlap
from horae.domain.schedules.spread import Spread
from horae.domain.times import is_known

MAX_LATENESS_AND_PACE_S: Final = 366 * 86_400.0
MAX_COUNT: Final = 1_000_000


class Policies(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the fires of a job are bounded, spread, filtered and caught up. `end` is excluded."""

    misfire: Misfire = Misfire()
    overlap: OnOverlap = OnOverlap.ALLOW
    spread: Spread = Spread()
    calendars: tuple[CalendarUse, ...] = ()
    start: datetime | None = None
    end: datetime | None = None
    max_count: int | None = None

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.end <= self.start:
            raise InvalidSchedule("the schedule ends before it starts")
        if self.max_count is not None and self.max_count < 1:
            raise InvalidSchedule("max_count is 1 or more")
        if self.misfire.policy is OnMisfire.ALL:
            if self.overlap in {OnOverlap.REPLACE, OnOverlap.QUEUE_ONE}:
                raise InvalidSchedule(
                    f"misfire 'all' makes up for every fire, but overlap {self.overlap.value!r} would drop most of them"
                )
            if self.overlap is OnOverlap.FORBID and not self.misfire.pace:
                raise InvalidSchedule("misfire 'all' with overlap 'forbid' needs a pace, or all but one are skipped")


def check_policies(policies: Policies) -> None:
    """Refuse values out of bounds in new definitions. Stored ones are not checked: they must stay readable."""
    if (
        policies.misfire.max_lateness or 0
    ) > MAX_LATENESS_AND_PACE_S or policies.misfire.pace > MAX_LATENESS_AND_PACE_S:
        raise InvalidSchedule(f"max_lateness and pace are {MAX_LATENESS_AND_PACE_S:.0f} seconds at most")
    if (policies.max_count or 0) > MAX_COUNT:
        raise InvalidSchedule(f"max_count is {MAX_COUNT} at most")
    if not all(at is None or is_known(at) for at in (policies.start, policies.end)):
        raise InvalidSchedule("start and end lie between 1970 and 9000, as UTC has it")
