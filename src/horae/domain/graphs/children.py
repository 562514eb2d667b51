"""The children of a mapped step: which of them start now, and how the step ends."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from horae.domain.graphs.graphs import MAX_CHILDREN, GraphStep
from horae.domain.graphs.parameters import UnresolvedParameter
from horae.domain.graphs.runs import StepState

FAILURE_ROUNDING_SHARE: Final = 1e-9
"""Added to the tolerated share of failures times the children: 0.1 of 30 is not exactly 3."""


class ChildCount(NamedTuple):
    """The children of one mapped step: how many run, how many failed, and the next ones that wait."""

    live: int
    failed: int
    waiting: Sequence[int]


class MappedDecision(NamedTuple):
    """What becomes of a mapped step. `state` is None while it goes on."""

    starting: Sequence[int]
    state: StepState | None = None
    reason: str | None = None


def decide_children(step: GraphStep, total: int, count: ChildCount) -> MappedDecision:
    """Decide about a mapped step.

    1. While no more failed than are tolerated, the next children start.
    2. As soon as more have failed, no other child starts. The step is DEAD when the last live one has ended.
    3. When no child waits or runs, the step has succeeded.
    """
    tolerated = step.tolerated_failures * total + FAILURE_ROUNDING_SHARE
    if count.failed <= tolerated and count.waiting:
        return MappedDecision(count.waiting)
    if count.live:
        return MappedDecision(())
    if count.failed <= tolerated:
        return MappedDecision((), StepState.SUCCESS)
    reason = f"CHILDREN_FAILED: {count.failed} of {total} children failed, {int(tolerated)} tolerated"
    return MappedDecision((), StepState.DEAD, reason)


def check_list(value: Any) -> list[Any]:
    """Return a value as the list of a mapped step. Raises `UnresolvedParameter` if it is none, or too long."""
    if not isinstance(value, list):
        raise UnresolvedParameter("the value for 'each' is not a list")
    if len(value) > MAX_CHILDREN:
        raise UnresolvedParameter(f"the list for 'each' has {len(value)} elements, more than {MAX_CHILDREN}")
    return value
