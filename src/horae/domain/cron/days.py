"""Which days of a month match. First weekday and length define a month completely, so there are 28 shapes of months."""

from dataclasses import dataclass
from functools import lru_cache

LENGTHS = (28, 29, 30, 31)
"""Lengths of months, in days."""
SHAPES = 7 * len(LENGTHS)
SUNDAY = 0
SATURDAY = 6


@dataclass(frozen=True, slots=True)
class LastDay:
    """`L`, `L-3`: the last day of the month, or `back` days before it; with `W` the nearest workday."""

    back: int
    workday: bool


@dataclass(frozen=True, slots=True)
class Nearest:
    """`15W`: the workday nearest to a day, without leaving the month."""

    day: int


@dataclass(frozen=True, slots=True)
class LastOf:
    """`5L`: the last such weekday of the month."""

    weekday: int


@dataclass(frozen=True, slots=True)
class NthOf:
    """`5#2`: the second such weekday of the month; a fifth may not exist. `nth` 0 means every such weekday."""

    weekday: int
    nth: int


Mark = LastDay | Nearest | LastOf | NthOf
"""A day that depends on the month."""


@dataclass(frozen=True, slots=True)
class DayRule:
    """Both day fields together. `either`: one matching field is enough; otherwise both must match."""

    days: int
    day_marks: tuple[Mark, ...]
    weekdays: int
    weekday_marks: tuple[Mark, ...]
    either: bool


@lru_cache(maxsize=1024)
def shapes(rule: DayRule) -> tuple[int, ...]:
    """Return the matching days for each shape of month; bit 1 is the first of the month."""
    return tuple(_month(rule, first, length) for first in range(7) for length in LENGTHS)


def shape(first: int, length: int) -> int:
    """Return the index of a month in `shapes`; `first` is the weekday of day 1, from 0 (Sunday)."""
    return first * len(LENGTHS) + length - LENGTHS[0]


def _month(rule: DayRule, first: int, length: int) -> int:
    """Return the matching days of one shape of month as a mask."""
    exist = (2 << length) - 2
    by_day = rule.days & exist
    for mark in rule.day_marks:
        by_day |= _marked(mark, first, length)
    by_weekday = _weekly(rule.weekdays, first) & exist
    for mark in rule.weekday_marks:
        by_weekday |= _marked(mark, first, length)
    return by_day | by_weekday if rule.either else by_day & by_weekday


def _weekly(weekdays: int, first: int) -> int:
    """Return a mask of the days that are one of these weekdays; the caller removes days that the month does not have.

    The multiplication repeats the pattern of the first week.
    """
    begin = (weekdays >> first | weekdays << (7 - first)) & 0x7F
    return (begin * 0x10204081 << 1) | (begin & 0b111) << 29


def _marked(mark: Mark, first: int, length: int) -> int:
    match mark:
        case LastDay(back, workday):
            day = length - back
            if day < 1:
                return 0
            return 1 << (_workday(day, first, length) if workday else day)
        case Nearest(day):
            return 1 << _workday(day, first, length) if day <= length else 0
        case LastOf(weekday):
            day = 1 + (weekday - first) % 7 + 28
            return 1 << (day if day <= length else day - 7)
        case NthOf(weekday, 0):
            return _weekly(1 << weekday, first) & ((2 << length) - 2)
        case NthOf(weekday, nth):
            day = 1 + (weekday - first) % 7 + 7 * (nth - 1)
            return 1 << day if day <= length else 0


def _workday(day: int, first: int, length: int) -> int:
    """Return the Monday to Friday that is nearest to the day, within the month."""
    weekday = (first + day - 1) % 7
    if weekday == SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == SUNDAY:
        return day + 1 if day < length else day - 2
    return day
