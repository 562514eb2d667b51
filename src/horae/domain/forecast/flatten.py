"""Proposes which jobs to spread over a window to lower the worst seconds, and computes the peak that is left."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from horae.domain.errors import Invalid
from horae.domain.forecast.fleet import Forecast, forecast, window_of
from horae.domain.forecast.patterns import seconds
from horae.domain.schedules import Schedule, Spread
from horae.domain.schedules.spread import offset
from horae.domain.zones.timeline import EPOCH


@dataclass(frozen=True, slots=True)
class ShiftedJob:
    """All fires of one job would be due later by `later`."""

    key: str
    later: timedelta


@dataclass(frozen=True, slots=True)
class Proposal:
    """The moved jobs, and the worst second before and after."""

    moves: tuple[ShiftedJob, ...]
    before: tuple[datetime, int] | None
    after: tuple[datetime, int] | None


def propose(made: Forecast, window: timedelta, above: int) -> Proposal:
    """Give this window to every job without a spread that fires in a second with more than `above` fires."""
    if window <= timedelta(0):
        raise Invalid("a window longer than nothing is needed to move anything")
    hot = {place for place, fires in enumerate(made.per_second) if fires > above}
    covered = window_of(made)
    moves: list[ShiftedJob] = []
    fleet: list[Schedule] = []
    for group in made.groups:
        moving = _is_fixed(group[0]) and not hot.isdisjoint(seconds(group[0], covered))
        for schedule in group:
            fleet.append(_spread(schedule, window) if moving else schedule)
            if moving:
                moves.append(ShiftedJob(schedule.key, offset(Spread(window.total_seconds()), schedule.key, EPOCH)))
    after = forecast(fleet, made.since, made.since + timedelta(seconds=len(made.per_second)))
    return Proposal(tuple(moves), _peak(made), _peak(after))


def _is_fixed(schedule: Schedule) -> bool:
    return schedule.policies.spread == Spread()


def _spread(schedule: Schedule, window: timedelta) -> Schedule:
    policies = msgspec.structs.replace(schedule.policies, spread=Spread(window.total_seconds()))
    return msgspec.structs.replace(schedule, policies=policies)


def _peak(made: Forecast) -> tuple[datetime, int] | None:
    return next(iter(made.worst(1)), None)
