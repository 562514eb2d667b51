"""The four dialects of cron, and how they differ: fields, names, weekday numbers."""

from dataclasses import dataclass
from enum import Enum, StrEnum


class Dialect(StrEnum):
    """How an expression is read. It is stored with each job: the same text means different days in another dialect."""

    UNIX5 = "unix5"
    SPRING6 = "spring6"
    QUARTZ6 = "quartz6"
    QUARTZ7 = "quartz7"

    @property
    def is_quartz(self) -> bool:
        """Whether Quartz's weekday numbers and its `?` rule apply."""
        return self in {Dialect.QUARTZ6, Dialect.QUARTZ7}


class Field(Enum):
    """A field; its value is its name in messages."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day of month"
    MONTH = "month"
    WEEKDAY = "day of week"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Numbers:
    """The values that a field may hold. `*` starts at `first`; some dialects accept two numbers for Sunday."""

    low: int
    high: int
    first: int
    widest_step: int


_FIVE = (Field.MINUTE, Field.HOUR, Field.DAY, Field.MONTH, Field.WEEKDAY)
_SIX = (Field.SECOND, *_FIVE)
ORDER = {
    Dialect.UNIX5: _FIVE,
    Dialect.SPRING6: _SIX,
    Dialect.QUARTZ6: _SIX,
    Dialect.QUARTZ7: (*_SIX, Field.YEAR),
}
"""The fields of each dialect, in the order of the text."""

_PLAIN = {
    Field.SECOND: Numbers(0, 59, 0, 59),
    Field.MINUTE: Numbers(0, 59, 0, 59),
    Field.HOUR: Numbers(0, 23, 0, 23),
    Field.DAY: Numbers(1, 31, 1, 31),
    Field.MONTH: Numbers(1, 12, 1, 12),
    Field.YEAR: Numbers(1970, 2099, 1970, 129),
}
_WEEKDAYS = {
    Dialect.UNIX5: Numbers(0, 7, 0, 7),  # Sunday is 0 or 7
    Dialect.SPRING6: Numbers(0, 7, 1, 7),  # the same numbers, but `*/2` counts from Monday
    Dialect.QUARTZ6: Numbers(1, 7, 1, 7),  # Sunday is 1
    Dialect.QUARTZ7: Numbers(1, 7, 1, 7),
}

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")

BY_COUNT = {5: Dialect.UNIX5, 6: Dialect.SPRING6, 7: Dialect.QUARTZ7}
"""The dialect that is assumed for a number of fields."""

MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * SUN",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
"""Macros, with the five fields of `unix5`."""


def numbers(field: Field, dialect: Dialect) -> Numbers:
    """Return the values that the field may hold in that dialect."""
    return _WEEKDAYS[dialect] if field is Field.WEEKDAY else _PLAIN[field]


def names_of(field: Field, dialect: Dialect) -> dict[str, int]:
    """Return the names that the field accepts, with their numbers in that dialect."""
    if field is Field.MONTH:
        return {name: k for k, name in enumerate(MONTHS, 1)}
    if field is Field.WEEKDAY:
        days = {name: k + dialect.is_quartz for k, name in enumerate(WEEKDAYS)}
        return days | {"SUN": 7} if dialect is Dialect.SPRING6 else days  # Spring's week begins on Monday
    return {}


def sunday_based(number: int, dialect: Dialect) -> int:
    """Convert a weekday number of that dialect to 0 (Sunday) to 6 (Saturday)."""
    return number - 1 if dialect.is_quartz else number % 7


def expand_macro(macro: str, dialect: Dialect) -> str:
    """Return a macro as the fields of that dialect."""
    five = MACROS[macro]
    if dialect is Dialect.UNIX5:
        return five
    minute, hour, day, month, weekday = five.split()
    if dialect.is_quartz:  # in Quartz exactly one of the two day fields is `?`
        day, weekday = ("?", weekday) if weekday != "*" else (day, "?")
    six = f"0 {minute} {hour} {day} {month} {weekday}"
    return f"{six} *" if dialect is Dialect.QUARTZ7 else six
