"""Why something that has come due is held back for a while."""

from enum import StrEnum


class HoldReason(StrEnum):
    """Why something due does not run yet. A held fire stays recorded and uncounted."""

    NO_SLOT = "NO_SLOT"
    TARGET_CAP = "TARGET_CAP"
    RATE = "RATE"
    CONCURRENCY = "CONCURRENCY"
    BREAKER = "BREAKER"
    RETRY_BUDGET = "RETRY_BUDGET"
    MEASURE = "MEASURE"
