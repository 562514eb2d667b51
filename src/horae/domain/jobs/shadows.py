"""Compares our computed fires with another system's log: which match, which exist on one side, and how far apart."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Final

import msgspec

SAME_RUN_TOLERANCE: Final = timedelta(seconds=1)
"""A log records when a run began, a little after its fire time: within this difference both count as the same."""


class ShadowComparison(msgspec.Struct, frozen=True):
    """One job. `missing`: only they fired. `extra`: only we would fire. `late`: their time minus ours, per match."""

    name: str
    matched: int
    missing: tuple[datetime, ...] = ()
    extra: tuple[datetime, ...] = ()
    late: tuple[timedelta, ...] = ()

    @property
    def offset(self) -> timedelta:
        """How much later than ours their fires usually are. An offset of an hour suggests a wrong zone."""
        return timedelta(seconds=median(one.total_seconds() for one in self.late)) if self.late else timedelta(0)

    @property
    def apart(self) -> int:
        """How many fires match, but differ by more than `SAME_RUN_TOLERANCE`."""
        return sum(abs(one) > SAME_RUN_TOLERANCE for one in self.late)

    @property
    def same(self) -> bool:
        """Whether both systems would have done the same."""
        return not (self.missing or self.extra or self.apart)


def compare(name: str, ours: Iterable[datetime], theirs: Iterable[datetime], tolerance: timedelta) -> ShadowComparison:
    """Pair fires within the tolerance, in order; unpaired fires exist on one side only.

    The tolerance is at most half the distance between two of our fires, so that a fire is not paired with the next one.
    """
    expected, seen = sorted(ours), sorted(theirs)
    within = _within(expected, tolerance)
    missing: list[datetime] = []
    extra: list[datetime] = []
    late: list[timedelta] = []
    i = j = 0
    while i < len(expected) and j < len(seen):
        gap = seen[j] - expected[i]
        if abs(gap) <= within:
            late.append(gap)
            i, j = i + 1, j + 1
        elif gap > timedelta(0):
            extra.append(expected[i])
            i += 1
        else:
            missing.append(seen[j])
            j += 1
    return ShadowComparison(name, len(late), (*missing, *seen[j:]), (*extra, *expected[i:]), tuple(late))


def _within(expected: Sequence[datetime], tolerance: timedelta) -> timedelta:
    gaps = [later - sooner for sooner, later in pairwise(expected)]
    return min(tolerance, min(gaps) / 2) if gaps else tolerance
