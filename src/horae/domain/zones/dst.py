"""DST policies: what a job does when the clocks change."""

from dataclasses import dataclass, field
from enum import StrEnum


class Gap(StrEnum):
    """For a time that the clocks jump over: fire at the first instant after the jump, or not at all."""

    FIRE_AFTER = "fire_after"
    SKIP = "skip"


class Overlap(StrEnum):
    """For a time that occurs twice: fire the first time, the second time, or both times."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class DstPolicy:
    """One job's choice for both kinds of clock change. `mode` numbers the six combinations, as an index for tables."""

    gap: Gap = Gap.FIRE_AFTER
    overlap: Overlap = Overlap.FIRST
    mode: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gap", Gap(self.gap))
        object.__setattr__(self, "overlap", Overlap(self.overlap))
        mode = list(Gap).index(self.gap) * len(Overlap) + list(Overlap).index(self.overlap)
        object.__setattr__(self, "mode", mode)


DEFAULT = DstPolicy()

# Follows elapsed time: a local time that does not exist is no fire, a repeated one is two fires.
ELAPSED = DstPolicy(Gap.SKIP, Overlap.BOTH)

POLICIES = tuple(DstPolicy(gap, overlap) for gap in Gap for overlap in Overlap)
