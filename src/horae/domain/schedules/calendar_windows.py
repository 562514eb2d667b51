"""Lengths of time in days and calendar months, counted on the clocks of a zone."""

from calendar import monthrange
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from horae.domain.errors import InvalidSchedule
from horae.domain.zones.zones import zone

DAY_S: Final = 86_400
MAX_DAYS: Final = 366
MAX_MONTHS: Final = 12


class CalendarWindow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A number of days, or of calendar months, on the clocks of a zone.

    A day is as long as the day is there: 23 to 25 hours where clocks change. A month before 31 March is the last day of
    February.
    """

    zone: str
    days: int = 0
    months: int = 0

    def __post_init__(self) -> None:
        if (self.days > 0) == (self.months > 0):
            raise InvalidSchedule("a calendar window has days or months, one of the two")
        if not (0 <= self.days <= MAX_DAYS and 0 <= self.months <= MAX_MONTHS):
            raise InvalidSchedule(f"a calendar window has at most {MAX_DAYS} days or {MAX_MONTHS} months")

    def before(self, at: datetime) -> datetime:
        """Return the time that lies this window before `at`, in UTC.

        Where clocks show that time twice, or not at all, the earlier reading counts: a window is never shorter than it
        says.
        """
        return min(self._shifted(at, -1))

    def after(self, at: datetime) -> datetime:
        """Return a time whose window before it holds nothing that is later than `at`, in UTC.

        Months have different lengths: a month after 31 January is 1 March, because a month before 28 February is 28
        January.
        """
        found = max(self._shifted(at, 1))
        while self.before(found) < at:
            found += timedelta(days=1)
        return found

    @property
    def shortest_s(self) -> int:
        """The least length in seconds, where clocks do not change."""
        return (self.days + 28 * self.months) * DAY_S

    @property
    def longest_s(self) -> int:
        """The greatest length in seconds, where clocks do not change."""
        return (self.days + 31 * self.months) * DAY_S

    def _shifted(self, at: datetime, sign: int) -> tuple[datetime, datetime]:
        """Return both readings of the shifted local time; they differ only where clocks change."""
        place = zone(self.zone)
        local = at.astimezone(place).replace(tzinfo=None, fold=0)
        if self.months:
            number = local.year * 12 + local.month - 1 + sign * self.months
            year, month = number // 12, number % 12 + 1
            local = local.replace(year=year, month=month, day=min(local.day, monthrange(year, month)[1]))
        else:
            local += timedelta(days=sign * self.days)
        first, second = (local.replace(tzinfo=place, fold=fold).astimezone(UTC) for fold in (0, 1))
        return first, second
