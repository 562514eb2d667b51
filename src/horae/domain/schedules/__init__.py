"""Schedules: a trigger under its policies. Which fires are expected, and what happens to each.

Here live misfire, overlap, spread and calendar policies, overrides, catch-up, the steps of a cursor, triggers,
calendars and backfills. Cron expressions live in `domain.cron`; rows of cursors live in `store`.
"""

from horae.domain.schedules.advance import (
    Step,
    advance,
    fire_at,
    first_wake,
    skip_until,
    verdicts_with_positions,
    wake_after_change,
    wake_of,
)
from horae.domain.schedules.catchup import catch_up
from horae.domain.schedules.misfire import Misfire, OnMisfire
from horae.domain.schedules.overlap import OnOverlap
from horae.domain.schedules.overrides import Override
from horae.domain.schedules.policies import Policies, check_policies
from horae.domain.schedules.spread import Spread
from horae.domain.schedules.verdicts import (
    FireVerdict,
    Schedule,
    SkipVerdict,
    Verdict,
    check,
    fires,
    next_running_fire,
)

__all__ = [
    "FireVerdict",
    "Misfire",
    "OnMisfire",
    "OnOverlap",
    "Override",
    "Policies",
    "Schedule",
    "SkipVerdict",
    "Spread",
    "Step",
    "Verdict",
    "advance",
    "catch_up",
    "check",
    "check_policies",
    "fire_at",
    "fires",
    "first_wake",
    "next_running_fire",
    "skip_until",
    "verdicts_with_positions",
    "wake_after_change",
    "wake_of",
]
