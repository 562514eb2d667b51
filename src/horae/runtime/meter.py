"""Counting what one process lets through: so many a second with a burst, so many at once. Nothing is shared."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, NamedTuple

from horae.runtime.clock import boottime

MOST: Final = 50_000


class Rate(NamedTuple):
    """So many a second on the long run, and so many at once."""

    rate: float
    burst: float


class Level(NamedTuple):
    """What is left now, and after how many seconds there is a whole one again (zero: now)."""

    left: int
    wait: float


class Meter:
    """Token buckets by key. Keys that were not heard of for long are forgotten: theirs would be full again."""

    def __init__(self, *, most: int = MOST) -> None:
        self._levels: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._most = most

    def take(self, key: Hashable, rate: Rate) -> Level | None:
        """One token; None when there is none."""
        level = self._refilled(key, rate)
        if level < 1:
            return None
        self._levels[key] = (level - 1, boottime())
        self._levels.move_to_end(key)
        if len(self._levels) > self._most:
            self._levels.popitem(last=False)
        return self.look(key, rate)

    def look(self, key: Hashable, rate: Rate) -> Level:
        """What is there without taking any."""
        level = self._refilled(key, rate)
        return Level(int(level), max(0.0, (1 - level) / rate.rate))

    def _refilled(self, key: Hashable, rate: Rate) -> float:
        level, at = self._levels.get(key, (rate.burst, 0.0))
        return min(rate.burst, level + (boottime() - at) * rate.rate)
