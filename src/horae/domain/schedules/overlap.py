"""Overlap policy: what happens to a fire while an earlier one of the same job still runs."""

from enum import StrEnum
from typing import assert_never


class OnOverlap(StrEnum):
    """Run beside the earlier one, not at all, instead of it, or after it (only one waits)."""

    ALLOW = "allow"
    FORBID = "forbid"
    REPLACE = "replace"
    QUEUE_ONE = "queue_one"


class Way(StrEnum):
    """The decision for one fire."""

    RUN = "run"
    SKIP = "skip"
    REPLACE = "replace"
    WAIT = "wait"


def decide(policy: OnOverlap, running: int, waiting: int) -> Way:
    """Return what a fire does, given how many instances of its job run and wait."""
    if running == 0 and waiting == 0:
        return Way.RUN
    match policy:
        case OnOverlap.ALLOW:
            return Way.RUN
        case OnOverlap.FORBID:
            return Way.SKIP
        case OnOverlap.REPLACE:
            return Way.REPLACE
        case OnOverlap.QUEUE_ONE:
            return Way.WAIT if waiting == 0 else Way.SKIP
        case other:
            assert_never(other)
