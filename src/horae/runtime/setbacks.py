"""Remembers recent failures: each thing is tried again after its own pause, and delays nothing else."""

from collections.abc import Callable, Hashable
from typing import Final, NamedTuple

from horae.runtime.bounded_dict import BoundedDict
from horae.runtime.clock import boottime

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
MAX_REMEMBERED: Final = 10_000


class Setback(NamedTuple):
    """How often a thing failed in a row, and the tick until which it is left alone."""

    failures: int
    until: float


class Setbacks:
    """Pauses that double with every failure in a row, from a second to a minute."""

    def __init__(self, now: Callable[[], float] = boottime) -> None:
        self._now = now
        self._known = BoundedDict[Hashable, Setback](MAX_REMEMBERED)

    def may_try(self, thing: Hashable) -> bool:
        """Whether a thing may be tried: it has not failed, or its pause is over."""
        known = self._known.get(thing)
        return known is None or known.until <= self._now()

    def record_failure(self, thing: Hashable) -> float:
        """Record a failure; returns the seconds of the pause."""
        before = self._known.pop(thing, None)
        failures = 1 if before is None else before.failures + 1
        pause_s = min(FIRST_PAUSE_S * 2.0 ** min(failures - 1, 10), LONGEST_PAUSE_S)
        self._known[thing] = Setback(failures, self._now() + pause_s)
        return pause_s

    def record_success(self, thing: Hashable) -> None:
        """Forget the failures of a thing."""
        self._known.pop(thing, None)
