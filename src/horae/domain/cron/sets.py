"""Describes a set of numbers as a person would: all of them, every n-th, or some runs."""

from dataclasses import dataclass
from itertools import pairwise

from horae.domain.cron.engine import bits


@dataclass(frozen=True, slots=True)
class Whole:
    """Every value of the field."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Every n-th value from `first` to the end of the field; `even`: the rhythm continues in the next round."""

    first: int
    step: int
    even: bool


@dataclass(frozen=True, slots=True)
class Runs:
    """Some values, as first and last of each run of neighbours."""

    runs: tuple[tuple[int, int], ...]

    @property
    def single(self) -> int | None:
        """The value, if there is only one."""
        first, last = self.runs[0]
        return first if len(self.runs) == 1 and first == last else None


Shape = Whole | Steps | Runs


def shape_of(mask: int, low: int, high: int) -> Shape:
    """Return the shape of a set of values in a field from `low` to `high`."""
    values = bits(mask)
    if len(values) == high - low + 1:
        return Whole()
    gaps = {after - before for before, after in pairwise(values)}
    if len(values) >= 3 and len(gaps) == 1:
        step = gaps.pop()
        if step > 1 and values[0] - low < step and values[-1] + step > high:
            return Steps(values[0], step, (high - low + 1) % step == 0)
    return Runs(_runs(values))


def _runs(values: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    runs = [(values[0], values[0])]
    for value in values[1:]:
        first, last = runs[-1]
        if value == last + 1:
            runs[-1] = (first, value)
        else:
            runs.append((value, value))
    return tuple(runs)
