"""Converts one field of a Celery crontab (text, number or list) into the dialect `spring6`.

In Celery all three day fields must match, as in Spring and unlike in unix cron, and ranges may wrap around. So values
are written out, except for steps such as `*/5`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from horae.domain.errors import InvalidSchedule

WEEKDAYS = {name: k for k, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
WEEKDAYS |= {
    name: k for k, name in enumerate(("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"))
}


@dataclass(frozen=True, slots=True)
class CeleryField:
    """A field with its name in Celery and its range of values."""

    name: str
    low: int
    high: int

    def to_spring(self, given: object) -> str:
        """Returns the field in the dialect `spring6`."""
        if given is None or given == "*":
            return "*"
        if isinstance(given, str) and self._is_rhythm(given):
            return given
        return _ranges(sorted(self.values(given)))

    def values(self, given: object) -> set[int]:
        """Returns all values that the field matches."""
        if isinstance(given, str):
            return {value for part in given.lower().split(",") for value in self._part(part.strip())}
        found = {int(value) for value in given} if isinstance(given, Iterable) else {self._number(str(given))}
        return {self._number(str(value)) for value in found}

    def _is_rhythm(self, given: str) -> bool:
        """Whether `*/n` can stay. A step over weekdays cannot, because Spring counts them from Monday."""
        step = given.removeprefix("*/")
        return given != step and step.isdigit() and self.name != "day_of_week" and 0 < int(step) <= self.high

    def _part(self, part: str) -> list[int]:
        scope, slash, step = part.partition("/")
        if scope == "*":
            values = list(range(self.low, self.high + 1))
        elif "-" in scope:
            first, _, last = scope.partition("-")
            values = self._range(self._number(first), self._number(last))
        else:
            values = [self._number(scope)]
        if slash and (not step.isdigit() or int(step) == 0):
            raise InvalidSchedule(f"{part!r} means nothing in Celery's {self.name}")
        return values[:: int(step)] if slash else values

    def _range(self, first: int, last: int) -> list[int]:
        if first <= last:
            return list(range(first, last + 1))
        return [*range(first, self.high + 1), *range(self.low, last + 1)]

    def _number(self, text: str) -> int:
        if self.name == "day_of_week" and text in WEEKDAYS:
            return WEEKDAYS[text]
        if not (text.isascii() and text.isdigit()) or not self.low <= int(text) <= self.high:
            raise InvalidSchedule(f"{text!r} is no value of Celery's {self.name}: it has {self.low} to {self.high}")
        return int(text)


FIELDS = {
    "minute": CeleryField("minute", 0, 59),
    "hour": CeleryField("hour", 0, 23),
    "day_of_month": CeleryField("day_of_month", 1, 31),
    "month_of_year": CeleryField("month_of_year", 1, 12),
    "day_of_week": CeleryField("day_of_week", 0, 6),
}


def _ranges(values: list[int]) -> str:
    """Writes consecutive values as ranges, the others one by one."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][1] + 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
