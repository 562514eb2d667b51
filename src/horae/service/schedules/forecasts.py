"""Forecasts: how many fires of the tenant's jobs are expected, second by second, and what a change does to them.

The work is bounded for any number of jobs. It runs in slices, so that the event loop stays responsive.
"""

import dataclasses
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from msgspec.structs import replace

from horae.domain.capacity.figures import STORE
from horae.domain.errors import Invalid
from horae.domain.forecast import (
    Forecast,
    ForecastChange,
    Peak,
    SpreadCandidate,
    SpreadProposal,
    StayReason,
    change_steps,
    spread_steps,
)
from horae.domain.forecast.fleet import window_of
from horae.domain.forecast.patterns import portions
from horae.domain.schedules import Schedule
from horae.domain.schedules.triggers import CronTrigger, IntervalTrigger
from horae.domain.steps import Steps
from horae.runtime.heavy import run_in_slices
from horae.service.context import Context
from horae.service.limits import counts
from horae.service.schedules.fleets import MINUTE, next_minute, read_fleet
from horae.store.schedules.schedules import NamedSchedule

MOST_MINUTES: Final = 10
"""The number of busiest minutes of an answer."""


class Worst(NamedTuple):
    """A second with many fires, and the names of the jobs that fire then."""

    at: datetime
    fires: int
    jobs: list[str]


class ForecastResult(NamedTuple):
    """A forecast and its worst seconds. `complete`: it includes every recurring job of the tenant."""

    forecast: Forecast
    worst: list[Worst]
    jobs: int
    complete: bool


class BusyJob(NamedTuple):
    """A job that fires in a busy second, and how many fires it has in the whole forecast."""

    job: NamedSchedule
    fires: int


class BusySecond(NamedTuple):
    """A second with its fires, and the first jobs by name that fire in it."""

    at: datetime
    fires: int
    jobs: list[BusyJob]


class WorstSeconds(NamedTuple):
    """The busiest seconds and minutes of a forecast, or of one of its minutes."""

    since: datetime
    seconds: list[BusySecond]
    minutes: list[Peak]
    complete: bool


class SpreadResult(NamedTuple):
    """A proposal to spread jobs, with the jobs by name that the forecast knows."""

    since: datetime
    proposal: SpreadProposal
    jobs: dict[str, NamedSchedule]
    complete: bool


class CapacityLimit(StrEnum):
    """What bounds the fires a second: the measured rate of the cells, or the limit of the tenant."""

    CELLS = "CELLS"
    TENANT_LIMIT = "TENANT_LIMIT"


class WhatIf(NamedTuple):
    """The effect of a job on the forecast. `capacity` is how many fires a second the tenant or its cells can take."""

    since: datetime
    change: ForecastChange
    capacity: float
    limited_by: CapacityLimit
    complete: bool


async def forecast(ctx: Context, *, hours: float = 24) -> ForecastResult:
    """Returns the tenant's fires per second from the next minute on, and the jobs behind the worst seconds."""
    async with ctx.memory.heavy.turn(ctx.tenant.id):
        fleet = await read_fleet(ctx)
        made = await fleet.forecast(next_minute(ctx.now()), hours)
        worst = await run_in_slices(made.worst_steps())
        behind = await run_in_slices(made.behind_steps([at for at, _ in worst]))
    answers = [
        Worst(at, fires, sorted(fleet.jobs[one.key].name for one in who))
        for (at, fires), who in zip(worst, behind, strict=True)
    ]
    jobs = len(fleet.schedules) - made.left_out
    return ForecastResult(made, answers, jobs, fleet.complete and not made.left_out)


async def worst_seconds(
    ctx: Context, *, hours: float, minute: datetime | None, seconds: int, jobs: int
) -> WorstSeconds:
    """Returns the busiest seconds with the jobs of each, and the busiest minutes; of one minute if that is given."""
    async with ctx.memory.heavy.turn(ctx.tenant.id):
        fleet = await read_fleet(ctx)
        made = await fleet.forecast(next_minute(ctx.now()), hours)
        part = made if minute is None else _minute_of(made, minute)
        worst = await run_in_slices(part.worst_steps(seconds))
        behind = await run_in_slices(made.behind_steps([at for at, _ in worst]))
        found = []
        counted: dict[str, int] = {}
        for (at, fires), who in zip(worst, behind, strict=True):
            first = sorted(who, key=lambda one: fleet.jobs[one.key].name)[:jobs]
            await run_in_slices(_count_steps(made, first, counted))
            found.append(BusySecond(at, fires, [BusyJob(fleet.jobs[one.key], counted[one.key]) for one in first]))
    per_minute = made.per_minute
    busiest = sorted(
        (place for place, fires in enumerate(per_minute) if fires), key=lambda one: (-per_minute[one], one)
    )
    minutes = [Peak(made.since + one * MINUTE, per_minute[one]) for one in busiest[:MOST_MINUTES]]
    return WorstSeconds(made.since, found, minutes, fleet.complete and not made.left_out)


async def propose_spread(ctx: Context, names: Sequence[str], *, hours: float, within_s: int) -> SpreadResult:
    """Returns windows for jobs by which their busiest seconds become calmer. Nothing is saved."""
    async with ctx.memory.heavy.turn(ctx.tenant.id):
        fleet = await read_fleet(ctx)
        made = await fleet.forecast(next_minute(ctx.now()), hours)
        wanted = set(names)
        jobs = {fleet.jobs[one.key].name: one for one in fleet.schedules if fleet.jobs[one.key].name in wanted}
        known = {name: fleet.jobs[one.key] for name, one in jobs.items()}
        candidates = [SpreadCandidate(name, one, known[name].late_after) for name, one in jobs.items()]
        proposal = await run_in_slices(spread_steps(made, candidates, within_s))
    unknown = [(name, StayReason.UNKNOWN) for name in sorted(wanted - jobs.keys())]
    stays = tuple(sorted([*proposal.stays, *unknown]))
    complete = fleet.complete and not made.left_out
    return SpreadResult(made.since, dataclasses.replace(proposal, stays=stays), known, complete)


async def what_if(ctx: Context, name: str, after: Schedule, *, hours: float) -> WhatIf:
    """Returns the effect of a schedule that is not saved, in place of that of the stored job of this name."""
    capacity, limited_by = await _capacity(ctx)
    async with ctx.memory.heavy.turn(ctx.tenant.id):
        fleet = await read_fleet(ctx)
        others = await fleet.forecast(next_minute(ctx.now()), hours, without=name)
        before = next((one for one in fleet.schedules if fleet.jobs[one.key].name == name), None)
        after = after if before is None else replace(after, key=before.key)  # the key decides where a window puts it
        recurring = after if isinstance(after.trigger, CronTrigger | IntervalTrigger) else None
        change = await run_in_slices(change_steps(others, before, recurring))
    return WhatIf(others.since, change, capacity, limited_by, fleet.complete and not others.left_out)


async def _capacity(ctx: Context) -> tuple[float, CapacityLimit]:
    """Returns the fires a second that may start: the measured rate of all cells, or the tenant's own limit."""
    cells = float(STORE.fires_per_s * len(ctx.store.cells))
    limit = (await counts.allowance_of(ctx)).limit
    if limit is not None and limit.rate is not None and limit.rate < cells:
        return limit.rate, CapacityLimit.TENANT_LIMIT
    return cells, CapacityLimit.CELLS


def _minute_of(made: Forecast, minute: datetime) -> Forecast:
    begin = (minute - made.since) // MINUTE * 60
    if not 0 <= begin < len(made.per_second):
        raise Invalid("the minute lies outside of the forecast")
    return Forecast(made.since + timedelta(seconds=begin), made.per_second[begin : begin + 60], made.groups)


def _count_steps(made: Forecast, found: Sequence[Schedule], counted: dict[str, int]) -> Steps[None]:
    """Count the fires of each schedule in the forecast, once, by the key of the schedule."""
    for schedule in found:
        if schedule.key not in counted:
            counted[schedule.key] = 0
            for portion in portions(schedule, window_of(made)):
                counted[schedule.key] += len(portion)
                yield
