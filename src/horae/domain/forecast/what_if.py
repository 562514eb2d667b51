"""The effect of one new or changed job on a forecast, before the job is saved."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from horae.domain.forecast.fleet import HOUR_S, Forecast, Peak, peak_steps, window_of
from horae.domain.forecast.patterns import portions
from horae.domain.schedules import Schedule
from horae.domain.steps import Steps


@dataclass(frozen=True, slots=True)
class ForecastChange:
    """The peak of all jobs before and after, and of the job's own fires: how many, and the busiest of their seconds."""

    before: Peak | None
    after: Peak | None
    fires_before: int
    fires_after: int
    own: Peak | None


def change_steps(others: Forecast, before: Schedule | None, after: Schedule | None) -> Steps[ForecastChange]:
    """Add the stored and the new schedule of a job to the forecast of all other jobs, each by itself."""
    old = yield from _places(others, before)
    new = yield from _places(others, after)
    counts_before = yield from _with(others.per_second, old)
    counts_after = yield from _with(others.per_second, new)
    return ForecastChange(
        before=(yield from peak_steps(others.since, counts_before)),
        after=(yield from peak_steps(others.since, counts_after)),
        fires_before=len(old),
        fires_after=len(new),
        own=(yield from _own(others, counts_after, new)),
    )


def _places(made: Forecast, schedule: Schedule | None) -> Steps[list[int]]:
    found: list[int] = []
    if schedule is not None:
        for portion in portions(schedule, window_of(made)):
            found += portion
            yield
    return found


def _with(counts: "array[int]", places: Sequence[int]) -> Steps["array[int]"]:
    made = counts[:]
    for begin in range(0, len(places), HOUR_S):
        for place in places[begin : begin + HOUR_S]:
            made[place] += 1
        yield
    return made


def _own(made: Forecast, counts: "array[int]", places: Sequence[int]) -> Steps[Peak | None]:
    """Return the busiest second among the places, the earliest among equals."""
    only = array("l", bytes(counts.itemsize * len(counts)))
    for begin in range(0, len(places), HOUR_S):
        for place in places[begin : begin + HOUR_S]:
            only[place] = counts[place]
        yield
    return (yield from peak_steps(made.since, only))
