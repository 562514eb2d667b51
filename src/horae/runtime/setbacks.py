"""Remembers what failed lately: each thing is tried again after a pause of its own, and keeps nothing else waiting."""

from collections.abc import Callable, Hashable
from typing import Final, NamedTuple

from horae.runtime.clock import boottime

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
MAX_REMEMBERED: Final = 10_000


class Setback(NamedTuple):
    """How often a thing failed in a row, and until when it is left alone."""

    failures: int
    until: float


class Setbacks:
    """Pauses that double with every failure in a row, from a second to a minute."""

    def __init__(self, now: Callable[[], float] = boottime) -> None:
        self._now = now
        self._known: dict[Hashable, Setback] = {}

    def may_try(self, thing: Hashable) -> bool:
        """Whether its pause is over, or it never failed."""
        known = self._known.get(thing)
        return known is None or known.until <= self._now()

    def failed(self, thing: Hashable) -> float:
        """Note a failure; returns the seconds of its pause."""
        before = self._known.pop(thing, None)
        failures = 1 if before is None else before.failures + 1
        pause_s = min(FIRST_PAUSE_S * 2.0 ** min(failures - 1, 10), LONGEST_PAUSE_S)
        if len(self._known) >= MAX_REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[thing] = Setback(failures, self._now() + pause_s)
        return pause_s

    def succeeded(self, thing: Hashable) -> None:
        """Forget its failures."""
        self._known.pop(thing, None)
