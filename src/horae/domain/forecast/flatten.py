"""Which jobs a flexible window would move out of the worst seconds, and what would be left of the peak."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from horae.domain.errors import Invalid
from horae.domain.forecast.fleet import Forecast, forecast, window_of
from horae.domain.forecast.patterns import seconds
from horae.domain.schedule import Schedule, Spread
from horae.domain.schedule.spread import offset
from horae.domain.timeline import EPOCH


@dataclass(frozen=True, slots=True)
class Move:
    """One job's fires would all be due so much later."""

    key: str
    later: timedelta


@dataclass(frozen=True, slots=True)
class Proposal:
    """The moves, and the worst second before and after them."""

    moves: tuple[Move, ...]
    before: tuple[datetime, int] | None
    after: tuple[datetime, int] | None


def propose(made: Forecast, window: timedelta, above: int) -> Proposal:
    """Give every job that fires in a second with more than `above` fires, and has no spread yet, this window."""
    if window <= timedelta(0):
        raise Invalid("a window longer than nothing is needed to move anything")
    hot = {place for place, fires in enumerate(made.per_second) if fires > above}
    covered = window_of(made)
    moves: list[Move] = []
    fleet: list[Schedule] = []
    for group in made.groups:
        moving = _is_fixed(group[0]) and not hot.isdisjoint(seconds(group[0], covered))
        for schedule in group:
            fleet.append(_spread(schedule, window) if moving else schedule)
            if moving:
                moves.append(Move(schedule.key, offset(Spread(window.total_seconds()), schedule.key, EPOCH)))
    after = forecast(fleet, made.since, made.since + timedelta(seconds=len(made.per_second)))
    return Proposal(tuple(moves), _peak(made), _peak(after))


def _is_fixed(schedule: Schedule) -> bool:
    return schedule.policies.spread == Spread()


def _spread(schedule: Schedule, window: timedelta) -> Schedule:
    policies = msgspec.structs.replace(schedule.policies, spread=Spread(window.total_seconds()))
    return msgspec.structs.replace(schedule, policies=policies)


def _peak(made: Forecast) -> tuple[datetime, int] | None:
    return next(iter(made.worst(1)), None)
