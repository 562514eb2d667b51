"""The plan: every expected fire of a schedule with its verdict, computed in advance."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta

import msgspec

from horae.domain.errors import InvalidSchedule
from horae.domain.instances.outcomes import SkipReason
from horae.domain.schedules import calendars, expected, misfire, overrides
from horae.domain.schedules.calendars import Calendar
from horae.domain.schedules.overrides import Override
from horae.domain.schedules.policies import Policies
from horae.domain.schedules.spread import offset
from horae.domain.schedules.triggers import OnceTrigger, Trigger

NEXT_FIRE_SEARCH_SPAN = timedelta(days=5 * 366)
"""How far ahead the next fire is searched."""
FIRST = datetime(1970, 1, 1, tzinfo=UTC)
"""The first time that schedules are computed for."""
LAST = datetime(2199, 1, 1, tzinfo=UTC)
"""The last time that schedules are computed for."""


class FireVerdict(msgspec.Struct, frozen=True):
    """The fire runs: `fire_time` is its nominal time, `due_at` when it may be tried."""

    fire_time: datetime
    due_at: datetime


class SkipVerdict(msgspec.Struct, frozen=True):
    """The fires from `fire_time` to `until` (included) do not run; `fires` is how many they are."""

    fire_time: datetime
    until: datetime
    fires: int
    reason: SkipReason


Verdict = FireVerdict | SkipVerdict


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """A trigger with everything that affects its fires. `key` is the job's input for stable hashes."""

    trigger: Trigger
    key: str
    policies: Policies = Policies()
    overrides: tuple[Override, ...] = ()
    calendars: Mapping[str, Calendar] = {}


class CalendarSpan(msgspec.Struct, frozen=True):
    """From `since` to `until` (excluded) the calendars give the same answer: fire (None), or skip with that reason."""

    since: datetime
    until: datetime
    reason: SkipReason | None


def fires(schedule: Schedule, since: datetime, until: datetime, *, fired: int = 0) -> Iterator[Verdict]:
    """Yield a verdict for every expected fire from `since` to `until` (excluded); `fired` counts the fires before."""
    most = schedule.policies.max_count
    for stretch in calendar_spans(schedule, since, until):
        if stretch.reason is not None:
            yield from skip_verdicts(schedule, stretch.since, stretch.until, stretch.reason)
            continue
        for fire_time, exists in expected.between_with_gaps(schedule.trigger, stretch.since, stretch.until):
            if most is not None and fired >= most:
                return
            verdict = _single(schedule, fire_time) if exists else _clock_change_skip(fire_time)
            fired += isinstance(verdict, FireVerdict)
            yield verdict


def next_running_fire(schedule: Schedule, after: datetime, *, fired: int = 0) -> FireVerdict | None:
    """Return the first fire after a time that really runs; None when there is none within five years.

    Days that the calendars exclude are skipped without counting their fires.
    """
    begin = max(after + expected.TIME_RESOLUTION, schedule.policies.start or after)
    coming = expected.after(schedule.trigger, begin - expected.TIME_RESOLUTION)
    most = schedule.policies.max_count
    if coming is None or (most is not None and fired >= most):
        return None
    for stretch in calendar_spans(schedule, coming, min(coming + NEXT_FIRE_SEARCH_SPAN, LAST)):
        if stretch.reason is not None or coming >= stretch.until:
            continue
        for fire_time in expected.between(schedule.trigger, max(coming, stretch.since), stretch.until):
            verdict = _single(schedule, fire_time)
            if isinstance(verdict, FireVerdict):
                return verdict
        coming = expected.after(schedule.trigger, stretch.until - expected.TIME_RESOLUTION)
        if coming is None:
            return None
    return None


def check(schedule: Schedule, now: datetime) -> None:
    """Refuse a schedule whose parts contradict each other, or that never fires."""
    trigger, policies = schedule.trigger, schedule.policies
    calendars.check(policies.calendars, schedule.calendars)
    misfire.check(policies.misfire)
    for override in schedule.overrides:
        overrides.check(trigger, override)
    if isinstance(trigger, OnceTrigger) and (policies.max_count or 1) > 1:
        raise InvalidSchedule("a job that fires once cannot have a max_count above 1")
    gap = expected.shortest_gap(trigger)
    if gap is not None and timedelta(seconds=policies.spread.jitter) >= gap:
        raise InvalidSchedule(
            f"a jitter of {policies.spread.jitter:g} s would mix up fires that are {gap.total_seconds():g} s apart"
        )
    # Checked from its start, or from 1970 on: a schedule whose fires are all past is valid.
    if (
        next_running_fire(schedule, policies.start or min(now, FIRST)) is None
        and next_running_fire(schedule, now) is None
    ):
        raise InvalidSchedule("with these policies the schedule never fires")


def calendar_spans(schedule: Schedule, since: datetime, until: datetime) -> Iterator[CalendarSpan]:
    """Yield the time within the schedule's start and end, cut where the calendars change their answer."""
    policies = schedule.policies
    since = max(since, policies.start or since)
    until = min(until, policies.end or until)
    if not policies.calendars:
        if since < until:
            yield CalendarSpan(since, until, None)
        return
    here = expected.zone_of(schedule.trigger)
    while since < until:
        day = since.astimezone(here).date()
        reason = _reason(schedule, day)
        end = day
        while _midnight(end, schedule) < until and _reason(schedule, end) is reason:
            end += timedelta(days=1)
        yield CalendarSpan(since, min(_midnight(end, schedule), until), reason)
        since = _midnight(end, schedule)


def skip_verdicts(schedule: Schedule, since: datetime, until: datetime, reason: SkipReason) -> Iterator[SkipVerdict]:
    """Yield one verdict for all fires of a range that do not run; nothing when there are none."""
    until = min(until, schedule.policies.end or until)
    many = expected.count_between(schedule.trigger, since, until) if since < until else 0
    if many:
        first = expected.after(schedule.trigger, since - expected.TIME_RESOLUTION)
        final = expected.last_between(schedule.trigger, since, until)
        assert first is not None
        assert final is not None
        yield SkipVerdict(first, final, many, reason)


def _clock_change_skip(fire_time: datetime) -> Verdict:
    """Return the verdict for a fire whose time the clocks jumped over; it is recorded at the time of the jump."""
    return SkipVerdict(fire_time, fire_time, 1, SkipReason.DST_GAP)


def _single(schedule: Schedule, fire_time: datetime) -> Verdict:
    for override in schedule.overrides:
        if override.at == fire_time:
            if override.to is None:
                return SkipVerdict(fire_time, fire_time, 1, SkipReason.REQUESTED)
            return FireVerdict(fire_time, override.to)
    return FireVerdict(fire_time, fire_time + offset(schedule.policies.spread, schedule.key, fire_time))


def _reason(schedule: Schedule, day: date) -> SkipReason | None:
    match calendars.allows(schedule.policies.calendars, schedule.calendars, day):
        case True:
            return None
        case False:
            return SkipReason.CALENDAR
        case None:
            return SkipReason.CALENDAR_UNKNOWN


def _midnight(day: date, schedule: Schedule) -> datetime:
    """Return when a day begins in the schedule's zone."""
    return datetime.combine(day, time(), expected.zone_of(schedule.trigger)).astimezone(UTC)
