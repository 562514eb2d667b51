"""The kinds of drills, and the rule that decides where each of them may run."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from horae.domain.errors import Conflict, Invalid

DRILL_TENANT: Final = "drill"
"""The tenant that owns the load of drills, and the job that asks for them."""
STAGING: Final = "staging"
PRODUCTION: Final = "production"


class DrillKind(StrEnum):
    """What a drill breaks."""

    NODE_LOSS = "node-loss"
    PRIMARY_LOSS = "primary-loss"
    OUTAGE_OF_TARGETS = "outage-of-targets"
    RESTORE = "restore"
    CELL_LOSS = "cell-loss"


IN_PRODUCTION: Final = frozenset({DrillKind.NODE_LOSS})
"""The drills that production allows: the loss of one of several nodes hurts nobody."""
COUNTED_FROM_WAY_BACK: Final = frozenset({DrillKind.OUTAGE_OF_TARGETS, DrillKind.CELL_LOSS})
"""The drills after which Horae cannot recover by itself: its recovery counts from the end of the fault."""


def check_place(kind: DrillKind, environment: str, recorded: Mapping[str, str], deployment: str, typed: str) -> None:
    """Refuse a drill where it may not run.

    `recorded` is the environment that each cell keeps since it was created: a wrong setting alone breaks nothing. In
    production the name of the deployment must be `typed`.
    """
    if environment not in {STAGING, PRODUCTION} or (environment == PRODUCTION and kind not in IN_PRODUCTION):
        allowed = "staging and production" if kind in IN_PRODUCTION else "staging"
        raise Conflict(f"the drill {kind} runs in {allowed} only, and HORAE_ENVIRONMENT is {environment!r}")
    others = sorted(f"{cell} belongs to {theirs!r}" for cell, theirs in recorded.items() if theirs != environment)
    if others:
        raise Conflict(f"HORAE_ENVIRONMENT is {environment!r}, but {', '.join(others)}: nothing was broken")
    if environment == PRODUCTION and not deployment:
        raise Invalid("a drill in production needs the name of the deployment: set HORAE_DEPLOYMENT")
    if environment == PRODUCTION and typed != deployment:
        raise Invalid("a drill in production is confirmed by the name of the deployment, and this is another one")
