"""Proposes a spread window for jobs that fire in busy seconds, so that their fires move to calmer ones.

Jobs are moved one after another, in the order of their names. A job is moved only if the busiest of its own seconds
becomes calmer than it was: so no step raises the peak of the forecast, and neither do all of them together.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from msgspec.structs import replace

from horae.domain.errors import Invalid
from horae.domain.forecast.fleet import Forecast, Peak, peak_steps, window_of
from horae.domain.forecast.patterns import Window, pattern, seconds
from horae.domain.schedules import Schedule, Spread
from horae.domain.schedules.expected import shortest_gap
from horae.domain.schedules.spread import offset
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.steps import Steps, finish
from horae.domain.zones.timeline import EPOCH

MAX_DELAY_S: Final = 3600
"""Seconds by which a proposal delays a fire at most."""
MOVED_AT_ONCE: Final = 1000
"""Fires that are moved between two yields."""
LATE_SHARE: Final = 2
"""A fire is delayed by at most this part of `late_after`: the rest is left for the call itself."""


class StayReason(StrEnum):
    """Why a proposal leaves a job at its seconds."""

    UNKNOWN = "UNKNOWN"
    NOT_COUNTED = "NOT_COUNTED"
    EXACT = "EXACT"
    ALREADY_SPREAD = "ALREADY_SPREAD"
    OCCURRENCES = "OCCURRENCES"
    MAX_COUNT = "MAX_COUNT"
    FRACTIONS = "FRACTIONS"
    NO_ROOM = "NO_ROOM"
    NO_GAIN = "NO_GAIN"


class SpreadCandidate(NamedTuple):
    """A job that may be spread. `late_after`: seconds after which its owner wants an alert."""

    name: str
    schedule: Schedule
    late_after: int | None = None


class SpreadMove(NamedTuple):
    """A job gets this window, in seconds; all its fires are due `later_s` seconds later then."""

    name: str
    window: int
    later_s: int


@dataclass(frozen=True, slots=True)
class SpreadProposal:
    """The jobs to move, and why the others stay.

    `before` and `after` are the peak of the whole forecast, `own_before` and `own_after` the busiest second in which a
    named job fires.
    """

    moves: tuple[SpreadMove, ...]
    stays: tuple[tuple[str, StayReason], ...]
    before: Peak | None
    after: Peak | None
    own_before: Peak | None
    own_after: Peak | None


class _Counts:
    """The fires per second of a forecast, with empty seconds around them for fires that are moved in and out."""

    def __init__(self, made: Forecast, most_s: int) -> None:
        self.since, self.margin, self.length = made.since, most_s, len(made.per_second)
        empty = array("l", bytes(array("l").itemsize * most_s))
        self.fires = empty + made.per_second + empty

    def busiest(self, places: Sequence[int]) -> Peak | None:
        """Return the busiest of some places, which are sorted, inside the window."""
        first, last = bisect_left(places, self.margin), bisect_left(places, self.margin + self.length)
        if first == last:
            return None
        fires = list(map(self.fires.__getitem__, places[first:last]))
        most = max(fires)
        return Peak(self.since + timedelta(seconds=places[first + fires.index(most)] - self.margin), most)

    def delays(self, places: Sequence[int], room: int) -> list[int]:
        """Return for each delay the fires of the busiest second that the fires at these places would meet."""
        parts = [self.fires[place : place + room] for place in places]
        return list(map(max, *parts)) if len(parts) > 1 else list(parts[0])

    def move_steps(self, places: Sequence[int], later: int) -> Steps[None]:
        """Move one fire from each place to a later one. What lies outside of the window is not counted."""
        inside = range(self.margin, self.margin + self.length)
        for begin in range(0, len(places), MOVED_AT_ONCE):
            for place in places[begin : begin + MOVED_AT_ONCE]:
                if place in inside:
                    self.fires[place] -= 1
                if place + later in inside:
                    self.fires[place + later] += 1
            yield

    def inside(self) -> "array[int]":
        """Return the counts of the window alone."""
        return self.fires[self.margin : self.margin + self.length]


def spread_proposal(made: Forecast, jobs: Iterable[SpreadCandidate], within_s: int) -> SpreadProposal:
    """Return windows of at most `within_s` seconds for jobs of a forecast."""
    return finish(spread_steps(made, jobs, within_s))


def spread_steps(made: Forecast, jobs: Iterable[SpreadCandidate], within_s: int) -> Steps[SpreadProposal]:
    """The same in steps of one job. The order of the jobs does not matter.

    1. Leave out the jobs that must not or cannot be moved.
    2. For each other job, find the delay at which the busiest second that it meets is the calmest.
    3. Move the job if that second, with its fire, is calmer than the busiest that it has now.
    """
    if not 1 <= within_s <= MAX_DELAY_S:
        raise Invalid(f"jobs are spread within 1 to {MAX_DELAY_S} seconds")
    counts, counted = _Counts(made, within_s), {one.key for group in made.groups for one in group}
    before = yield from peak_steps(made.since, made.per_second)
    candidates = sorted(jobs, key=lambda one: one.name)
    known: dict[object, list[int]] = {}
    places: dict[str, list[int]] = {}
    own_before: list[Peak | None] = []
    for one in candidates:
        if one.schedule.key in counted:
            places[one.name] = _places(one.schedule, made, within_s, known)
            own_before.append(counts.busiest(places[one.name]))
            yield
    moves: list[SpreadMove] = []
    stays: list[tuple[str, StayReason]] = []
    for one in candidates:
        room = _room(one, within_s)
        reason = StayReason.NOT_COUNTED if one.name not in places else _stay_reason(one, room)
        move = None if reason is not None else _best(one, counts, places[one.name], room)
        if move is None:
            stays.append((one.name, reason or StayReason.NO_GAIN))
        else:
            yield from counts.move_steps(places[one.name], move.later_s)
            places[one.name] = [place + move.later_s for place in places[one.name]]
            moves.append(move)
        yield
    own_after: list[Peak | None] = []
    for found in places.values():
        own_after.append(counts.busiest(found))
        yield
    after = yield from peak_steps(made.since, counts.inside())
    return SpreadProposal(tuple(moves), tuple(stays), before, after, _highest(own_before), _highest(own_after))


def with_window(schedule: Schedule, window: float) -> Schedule:
    """Return the schedule with another spread window."""
    spread = replace(schedule.policies.spread, window=window)
    return replace(schedule, policies=replace(schedule.policies, spread=spread))


def _highest(peaks: Iterable[Peak | None]) -> Peak | None:
    found = [peak for peak in peaks if peak is not None]
    return min(found, key=lambda peak: (-peak.fires, peak.at), default=None)


def _places(schedule: Schedule, made: Forecast, margin: int, known: dict[object, list[int]]) -> list[int]:
    """Return the places of a schedule's fires, those before the window included that a delay may move into it."""
    key = pattern(schedule)
    if key not in known:
        covered = window_of(made)
        known[key] = sorted(seconds(schedule, Window(covered.begin - margin, covered.end)))
    return known[key]


def _room(job: SpreadCandidate, within_s: int) -> int:
    """Return how many seconds a job may be delayed: less than the time to its next fire, and than its owner allows."""
    gap = shortest_gap(job.schedule.trigger)
    bounds = [within_s, within_s if gap is None else int(gap.total_seconds())]
    return min(bounds if job.late_after is None else [*bounds, job.late_after // LATE_SHARE])


def _stay_reason(job: SpreadCandidate, room: int) -> StayReason | None:
    spread, trigger = job.schedule.policies.spread, job.schedule.trigger
    if spread.exact:
        return StayReason.EXACT
    if spread != Spread():
        return StayReason.ALREADY_SPREAD
    if job.schedule.overrides:
        return StayReason.OCCURRENCES
    if job.schedule.policies.max_count is not None:
        return StayReason.MAX_COUNT
    if isinstance(trigger, IntervalTrigger) and (trigger.every % 1 or trigger.anchor.microsecond):
        return StayReason.FRACTIONS
    return StayReason.NO_ROOM if room <= 1 else None


def _best(job: SpreadCandidate, counts: _Counts, places: Sequence[int], room: int) -> SpreadMove | None:
    """Return the move to the calmest second, with the shortest delay among equals; None where no move helps."""
    now = counts.busiest(places)
    if now is None:
        return None
    found = counts.delays(places, room)
    windows = _windows(job.schedule.key, room)
    later = min(windows, key=lambda one: (found[one], one), default=0)
    if later == 0 or found[later] + 1 >= now.fires:
        return None
    return SpreadMove(job.name, windows[later], later)


def _windows(key: str, room: int) -> Mapping[int, int]:
    """Return the delays in whole seconds that a window of a job may make, each with the shortest such window.

    The delay is a part of the window that depends on the job, so it is shorter than its window.
    """
    found: dict[int, int] = {}
    for window in range(1, room + 1):
        later = int(offset(Spread(window), key, EPOCH).total_seconds())
        if later:
            found.setdefault(later, window)
    return found
