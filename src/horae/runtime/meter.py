"""Token buckets in the memory of one process. Nothing is shared with other processes."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, NamedTuple

from horae.runtime.clock import boottime

MOST: Final = 50_000


class Rate(NamedTuple):
    """At most `rate` per second in the long run, and `burst` at once."""

    rate: float
    burst: float


class MeterLevel(NamedTuple):
    """The whole tokens left now, and the seconds until there is one (zero: now)."""

    left: int
    wait: float


class Meter:
    """Token buckets by key. Beyond `most` keys the least recently used one is forgotten: it should be full again."""

    def __init__(self, *, most: int = MOST) -> None:
        self._levels: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._most = most

    def take(self, key: Hashable, rate: Rate) -> MeterLevel | None:
        """Take one token; None if there is none."""
        level = self._refill(key, rate)
        if level < 1:
            return None
        self._levels[key] = (level - 1, boottime())
        self._levels.move_to_end(key)
        if len(self._levels) > self._most:
            self._levels.popitem(last=False)
        return self.look(key, rate)

    def look(self, key: Hashable, rate: Rate) -> MeterLevel:
        """The level of a bucket; nothing is taken."""
        level = self._refill(key, rate)
        return MeterLevel(int(level), max(0.0, (1 - level) / rate.rate))

    def _refill(self, key: Hashable, rate: Rate) -> float:
        level, at = self._levels.get(key, (rate.burst, 0.0))
        return min(rate.burst, level + (boottime() - at) * rate.rate)
