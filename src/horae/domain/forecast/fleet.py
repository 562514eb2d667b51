"""The forecast over many schedules. Schedules with the same pattern are computed once and counted together.

A large fleet takes seconds of CPU time. So each function has two forms: `…_steps` yields every few milliseconds, the
other runs all steps at once. `MOST_WORK` bounds the cost of a forecast that is requested through the API.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import nlargest
from typing import Final, NamedTuple

from horae.domain.errors import Invalid
from horae.domain.forecast.patterns import Window, cost, is_walked, pattern, portions, seconds
from horae.domain.schedules import Schedule
from horae.domain.steps import Steps, finish
from horae.domain.zones.timeline import EPOCH

MAX_FORECAST_WINDOW = timedelta(days=14)
MOST_WORK: Final = 20_000_000
"""Fires computed by arithmetic; about 2 s on one 2.5 GHz core."""
HOUR_S: Final = 3600
GROUPED_AT_ONCE: Final = 50
"""Schedules that are grouped between two yields."""


class Peak(NamedTuple):
    """The busiest of some seconds, the earliest among equals."""

    at: datetime
    fires: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """The fires per second of a window. `groups` holds the schedules, those with the same pattern together.

    `walked` holds the seconds of groups that had to be walked, by index of the group. `left_out` counts the schedules
    that are not included, because all of them would be too much work; the cheapest are included first.
    """

    since: datetime
    per_second: "array[int]"
    groups: tuple[tuple[Schedule, ...], ...]
    walked: Mapping[int, frozenset[int]] = field(default_factory=dict)
    left_out: int = 0

    @property
    def total(self) -> int:
        """All fires of the window."""
        return sum(self.per_second)

    @property
    def per_minute(self) -> list[int]:
        """The fires of each minute of the window."""
        return [sum(self.per_second[k : k + 60]) for k in range(0, len(self.per_second), 60)]

    def worst(self, many: int = 10) -> list[tuple[datetime, int]]:
        """Return the seconds with the most fires, the worst first; the earliest first among equals."""
        return finish(self.worst_steps(many))

    def worst_steps(self, many: int = 10) -> Steps[list[tuple[datetime, int]]]:
        """The same in steps of one hour of the window."""
        found: list[tuple[int, int]] = []
        for begin in range(0, len(self.per_second), HOUR_S):
            hour = self.per_second[begin : begin + HOUR_S]
            if len(found) < many or max(hour) > found[-1][1]:
                found = nlargest(many, [*found, *enumerate(hour, begin)], key=lambda item: (item[1], -item[0]))
            yield
        return [(self.since + timedelta(seconds=place), fires) for place, fires in found if fires]

    def at(self, moment: datetime) -> list[Schedule]:
        """Return the schedules that fire at one second."""
        return self.behind([moment])[0]

    def behind(self, moments: Sequence[datetime]) -> list[list[Schedule]]:
        """Return the schedules that fire at each of some seconds."""
        return finish(self.behind_steps(moments))

    def behind_steps(self, moments: Sequence[datetime]) -> Steps[list[list[Schedule]]]:
        """The same in steps of one pattern."""
        places = [(moment - self.since) // timedelta(seconds=1) for moment in moments]
        found: list[list[Schedule]] = [[] for _ in moments]
        for number, group in enumerate(self.groups):
            for place, who in zip(places, found, strict=True):
                if self._fires(number, place):
                    who.extend(group)
            yield
        return found

    def _fires(self, number: int, place: int) -> bool:
        if number in self.walked:
            return place in self.walked[number]
        begin = window_of(self).begin + place
        return bool(seconds(self.groups[number][0], Window(begin, begin + 1)))


def forecast(schedules: Iterable[Schedule], since: datetime, until: datetime, *, most: int | None = None) -> Forecast:
    """Return the fires of all schedules from `since` to `until` (excluded), for at most `most` units of work."""
    return finish(forecast_steps(schedules, since, until, most=most))


def forecast_steps(
    schedules: Iterable[Schedule], since: datetime, until: datetime, *, most: int | None = None
) -> Steps[Forecast]:
    """The same in steps.

    1. Group the schedules by pattern.
    2. With a bound on the work, keep the cheapest groups and count the schedules of the others.
    3. Compute the seconds of each group once, and add the number of its schedules to each.
    """
    if not timedelta(0) < until - since <= MAX_FORECAST_WINDOW:
        raise Invalid(f"a forecast reaches at most {MAX_FORECAST_WINDOW.days} days ahead")
    window = Window.of(since, until)
    groups = yield from _group(schedules)
    left_out = 0
    if most is not None:
        groups, left_out = yield from _affordable(groups, window, most)
    counts = array("l", bytes(array("l").itemsize * (window.end - window.begin)))
    walked: dict[int, frozenset[int]] = {}
    for number, group in enumerate(groups):
        many, places = len(group), set[int]()
        for portion in portions(group[0], window):
            for place in portion:
                counts[place] += many
            if is_walked(group[0]):
                places.update(portion)
            yield
        if is_walked(group[0]):
            walked[number] = frozenset(places)
    begin = EPOCH + timedelta(seconds=window.begin)
    return Forecast(begin, counts, tuple(groups), walked, left_out)


def peak_steps(since: datetime, counts: "array[int]") -> Steps[Peak | None]:
    """Return the busiest second of counted seconds, in steps of one hour; None where nothing fires."""
    most, found = 0, 0
    for begin in range(0, len(counts), HOUR_S):
        hour = counts[begin : begin + HOUR_S]
        highest = max(hour)
        if highest > most:
            most, found = highest, begin + hour.index(highest)
        yield
    return Peak(since + timedelta(seconds=found), most) if most else None


def window_of(made: Forecast) -> Window:
    """Return the window of a forecast."""
    begin = (made.since - EPOCH) // timedelta(seconds=1)
    return Window(begin, begin + len(made.per_second))


def _group(schedules: Iterable[Schedule]) -> Steps[list[tuple[Schedule, ...]]]:
    grouped: dict[object, list[Schedule]] = {}
    for number, schedule in enumerate(schedules):
        grouped.setdefault(pattern(schedule), []).append(schedule)
        if number % GROUPED_AT_ONCE == 0:
            yield
    return [tuple(group) for group in grouped.values()]


def _affordable(
    groups: list[tuple[Schedule, ...]], window: Window, most: int
) -> Steps[tuple[list[tuple[Schedule, ...]], int]]:
    """Return the cheapest groups within the bound on work, and how many schedules the other groups have."""
    costs: list[tuple[int, tuple[Schedule, ...]]] = []
    for group in groups:
        costs.append((cost(group[0], window), group))
        yield
    costs.sort(key=lambda one: one[0])
    kept: list[tuple[Schedule, ...]] = []
    for price, group in costs:
        if price > most:
            break
        most -= price
        kept.append(group)
    return kept, sum(len(group) for _, group in costs[len(kept) :])
