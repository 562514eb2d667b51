"""A trigger under its policies: which fires are expected, and what becomes of each."""

from horae.domain.schedule.advance import Step, advance, fire_at, first_wake, passed, stops, wake_of
from horae.domain.schedule.catchup import catch_up
from horae.domain.schedule.misfire import Misfire, OnMisfire
from horae.domain.schedule.overlap import OnOverlap
from horae.domain.schedule.overrides import Override
from horae.domain.schedule.plan import Fire, Schedule, Skip, Verdict, check, fires, following
from horae.domain.schedule.policies import Policies, check_policies
from horae.domain.schedule.spread import Spread

__all__ = [
    "Fire",
    "Misfire",
    "OnMisfire",
    "OnOverlap",
    "Override",
    "Policies",
    "Schedule",
    "Skip",
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
    "following",
    "passed",
    "stops",
    "wake_of",
]
