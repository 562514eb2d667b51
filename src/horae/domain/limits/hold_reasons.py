"""The reasons for which admission holds back a due instance."""

from enum import StrEnum


class HoldReason(StrEnum):
    """Why a due instance does not run yet. A held fire stays recorded, and being held costs no attempt."""

    NO_SLOT = "NO_SLOT"
    TARGET_CAP = "TARGET_CAP"
    NO_ANSWER = "NO_ANSWER"
    RATE = "RATE"
    CONCURRENCY = "CONCURRENCY"
    BREAKER = "BREAKER"
    RETRY_BUDGET = "RETRY_BUDGET"
    MEASURE = "MEASURE"
