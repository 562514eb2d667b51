"""The forecast over many schedules. Those that share a pattern are counted once, with their number."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import nlargest

from horae.domain.errors import Invalid
from horae.domain.forecast.patterns import Window, pattern, seconds
from horae.domain.schedule import Schedule
from horae.domain.timeline import EPOCH

LONGEST = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Forecast:
    """Fires per second of a window. `groups` are the schedules, those of one pattern together."""

    since: datetime
    per_second: "array[int]"
    groups: tuple[tuple[Schedule, ...], ...]

    @property
    def total(self) -> int:
        """All fires of the window."""
        return sum(self.per_second)

    @property
    def per_minute(self) -> list[int]:
        """Fires of each minute of the window."""
        return [sum(self.per_second[k : k + 60]) for k in range(0, len(self.per_second), 60)]

    def worst(self, many: int = 10) -> list[tuple[datetime, int]]:
        """The seconds with most fires, the worst first; of equal ones the earliest."""
        found = nlargest(many, enumerate(self.per_second), key=lambda item: (item[1], -item[0]))
        return [(self.since + timedelta(seconds=place), fires) for place, fires in found if fires]

    def at(self, moment: datetime) -> list[Schedule]:
        """The schedules that fire at that second."""
        return self.behind([moment])[0]

    def behind(self, moments: Sequence[datetime]) -> list[list[Schedule]]:
        """The schedules that fire at each of some seconds; every pattern is looked at once."""
        places = [(moment - self.since) // timedelta(seconds=1) for moment in moments]
        found: list[list[Schedule]] = [[] for _ in moments]
        window = window_of(self)
        for group in self.groups:
            firing = set(places).intersection(seconds(group[0], window))
            for place, who in zip(places, found, strict=True):
                if place in firing:
                    who.extend(group)
        return found


def forecast(schedules: Iterable[Schedule], since: datetime, until: datetime) -> Forecast:
    """What the fleet will do from `since` to `until` (excluded)."""
    if not timedelta(0) < until - since <= LONGEST:
        raise Invalid(f"a forecast reaches at most {LONGEST.days} days ahead")
    window = Window.of(since, until)
    grouped: dict[object, list[Schedule]] = {}
    for schedule in schedules:
        grouped.setdefault(pattern(schedule), []).append(schedule)
    counts = array("l", bytes(array("l").itemsize * (window.end - window.begin)))
    for group in grouped.values():
        many = len(group)
        for place in seconds(group[0], window):
            counts[place] += many
    begin = EPOCH + timedelta(seconds=window.begin)
    return Forecast(begin, counts, tuple(tuple(group) for group in grouped.values()))


def window_of(made: Forecast) -> Window:
    """The seconds a forecast covers."""
    begin = (made.since - EPOCH) // timedelta(seconds=1)
    return Window(begin, begin + len(made.per_second))
