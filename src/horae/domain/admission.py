"""What becomes of a matured timer: it runs, it is held back for a while, or it is skipped with a reason."""

from datetime import datetime
from enum import StrEnum

import msgspec

from horae.domain.outcomes import SkipReason


class HoldReason(StrEnum):
    """Why something due does not run yet. A held fire stays recorded and uncounted."""

    NO_SLOT = "NO_SLOT"
    TARGET_CAP = "TARGET_CAP"
    RATE = "RATE"
    CONCURRENCY = "CONCURRENCY"
    BREAKER = "BREAKER"
    RETRY_BUDGET = "RETRY_BUDGET"
    MEASURE = "MEASURE"


class Run(msgspec.Struct, frozen=True):
    """Go: a slot is held for it."""


class Hold(msgspec.Struct, frozen=True):
    """Not yet; look again at `until`."""

    reason: HoldReason
    until: datetime


class Skip(msgspec.Struct, frozen=True):
    """Never: it leaves a SKIPPED row that says why."""

    reason: SkipReason


Admission = Run | Hold | Skip
