"""Our computed fires beside another system's log: which match, which one side has alone, and how far apart."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Final

import msgspec

EXACT: Final = timedelta(seconds=1)
"""A log says when somebody began, which is a little after the time: within this it counts as the same."""


class Compared(msgspec.Struct, frozen=True):
    """One job. `missing`: they fired, we would not. `extra`: we would, they did not. `late`: theirs less ours."""

    name: str
    matched: int
    missing: tuple[datetime, ...] = ()
    extra: tuple[datetime, ...] = ()
    late: tuple[timedelta, ...] = ()

    @property
    def offset(self) -> timedelta:
        """How much later than ours their fires usually are; an offset of an hour is a zone that was misread."""
        return timedelta(seconds=median(one.total_seconds() for one in self.late)) if self.late else timedelta(0)

    @property
    def apart(self) -> int:
        """How many match, but are further apart than a start takes."""
        return sum(abs(one) > EXACT for one in self.late)

    @property
    def same(self) -> bool:
        """Whether both systems would have done the same."""
        return not (self.missing or self.extra or self.apart)


def compare(name: str, ours: Iterable[datetime], theirs: Iterable[datetime], tolerance: timedelta) -> Compared:
    """Pair fires that lie within the tolerance, in order; the rest one side has alone.

    The tolerance never reaches half way to a neighbour, so that a fire is never paired with the next one.
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
    return Compared(name, len(late), (*missing, *seen[j:]), (*extra, *expected[i:]), tuple(late))


def _within(expected: Sequence[datetime], tolerance: timedelta) -> timedelta:
    gaps = [later - sooner for sooner, later in pairwise(expected)]
    return min(tolerance, min(gaps) / 2) if gaps else tolerance
