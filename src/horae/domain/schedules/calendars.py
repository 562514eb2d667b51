"""Calendars: which days are workdays, holidays or trading days, as far as they are published.

A calendar answers only for days between its first and its last. Nothing is projected: a year whose holidays are not
published yet is unknown. A job that depends on such a day is skipped with that reason, because the day may turn out to
be a holiday.
"""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from enum import StrEnum

import msgspec

from horae.domain.errors import InvalidSchedule

MONDAY_TO_FRIDAY = frozenset({1, 2, 3, 4, 5})
"""ISO weekday numbers: 1 is Monday."""


class CalendarMode(StrEnum):
    """Fire only on the calendar's days, or on none of them."""

    INCLUDE = "include"
    EXCLUDE = "exclude"


class Calendar(msgspec.Struct, frozen=True, kw_only=True):
    """A set of days: weekdays (1 is Monday), plus `added` days, minus `removed` days, known from `first` to `last`."""

    name: str
    first: date
    last: date
    weekdays: frozenset[int] = frozenset()
    added: frozenset[date] = frozenset()
    removed: frozenset[date] = frozenset()

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise InvalidSchedule(f"calendar {self.name!r} ends before it begins")
        if not self.weekdays <= frozenset(range(1, 8)):
            raise InvalidSchedule(f"calendar {self.name!r}: weekdays are 1 (Monday) to 7 (Sunday)")
        if both := self.added & self.removed:
            raise InvalidSchedule(f"calendar {self.name!r} adds and removes {min(both)}")
        if any(not self.first <= day <= self.last for day in self.added | self.removed):
            raise InvalidSchedule(f"calendar {self.name!r} names a day outside {self.first} to {self.last}")

    @property
    def days(self) -> int:
        """How many single days it names."""
        return len(self.added) + len(self.removed)

    def has(self, day: date) -> bool | None:
        """Whether the day belongs to the calendar; None when that is not known."""
        if not self.first <= day <= self.last:
            return None
        if day in self.added:
            return True
        return day.isoweekday() in self.weekdays and day not in self.removed


class CalendarUse(msgspec.Struct, frozen=True):
    """One job's use of one calendar, by name."""

    calendar: str
    mode: CalendarMode = CalendarMode.INCLUDE


def workdays(name: str, first: date, last: date, holidays: Iterable[date], makeup: Iterable[date] = ()) -> Calendar:
    """Return Monday to Friday without the holidays, plus the weekend days that are worked to make up for them."""
    worked = frozenset(makeup)
    free = frozenset(day for day in holidays if day.isoweekday() in MONDAY_TO_FRIDAY) - worked
    return Calendar(name=name, first=first, last=last, weekdays=MONDAY_TO_FRIDAY, added=worked, removed=free)


def calendar_of_days(name: str, first: date, last: date, days: Iterable[date]) -> Calendar:
    """Return a calendar of the given days alone, such as the holidays themselves."""
    return Calendar(name=name, first=first, last=last, added=frozenset(days))


def allows(rules: Iterable[CalendarUse], calendars: Mapping[str, Calendar], day: date) -> bool | None:
    """Whether all rules let a job fire on a day; None when one of them cannot know and none forbids it."""
    unknown = False
    for rule in rules:
        calendar = calendars.get(rule.calendar)
        found = None if calendar is None else calendar.has(day)
        if found is None:
            unknown = True
        elif found is (rule.mode is CalendarMode.EXCLUDE):
            return False
    return None if unknown else True


def ends_within(calendar: Calendar, today: date, days: int) -> bool:
    """Whether the calendar ends within so few days that its owner should be warned."""
    return calendar.last < today + timedelta(days=days)


def check(rules: Iterable[CalendarUse], calendars: Mapping[str, Calendar]) -> None:
    """Refuse rules that name an unknown calendar or contradict each other."""
    seen: dict[str, CalendarMode] = {}
    for rule in rules:
        if rule.calendar not in calendars:
            raise InvalidSchedule(f"there is no calendar {rule.calendar!r}")
        if seen.setdefault(rule.calendar, rule.mode) is not rule.mode:
            raise InvalidSchedule(f"calendar {rule.calendar!r} cannot be both included and excluded")
