"""The plan: every expected fire of a schedule with its verdict, computed before anything happens."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta

import msgspec

from horae.domain import calendars
from horae.domain.calendars import Calendar
from horae.domain.errors import InvalidSchedule
from horae.domain.outcomes import SkipReason
from horae.domain.schedule import expected, misfire, overrides
from horae.domain.schedule.overrides import Override
from horae.domain.schedule.policies import Policies
from horae.domain.schedule.spread import offset
from horae.domain.triggers import OnceTrigger, Trigger

LOOK_AHEAD = timedelta(days=5 * 366)
FIRST = datetime(1970, 1, 1, tzinfo=UTC)
LAST = datetime(2199, 1, 1, tzinfo=UTC)


class Fire(msgspec.Struct, frozen=True):
    """It fires: `fire_time` is its name, `due_at` when it may be tried."""

    fire_time: datetime
    due_at: datetime


class Skip(msgspec.Struct, frozen=True):
    """So many fires, from `fire_time` to `until` (included), do not happen, and why."""

    fire_time: datetime
    until: datetime
    fires: int
    reason: SkipReason


Verdict = Fire | Skip


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """A trigger with everything that decides about its fires. `key` tells this job's hash from others'."""

    trigger: Trigger
    key: str
    policies: Policies = Policies()
    overrides: tuple[Override, ...] = ()
    calendars: Mapping[str, Calendar] = {}


class Stretch(msgspec.Struct, frozen=True):
    """From `since` to `until` (excluded) the calendars say the same: fire, or skip with that reason."""

    since: datetime
    until: datetime
    reason: SkipReason | None


def fires(schedule: Schedule, since: datetime, until: datetime, *, fired: int = 0) -> Iterator[Verdict]:
    """A verdict for every expected fire from `since` to `until` (excluded); `fired` is how many there were before."""
    most = schedule.policies.max_count
    for stretch in stretches(schedule, since, until):
        if stretch.reason is not None:
            yield from skipped(schedule, stretch.since, stretch.until, stretch.reason)
            continue
        for fire_time, exists in expected.owed(schedule.trigger, stretch.since, stretch.until):
            if most is not None and fired >= most:
                return
            verdict = _single(schedule, fire_time) if exists else _gone(fire_time)
            fired += isinstance(verdict, Fire)
            yield verdict


def following(schedule: Schedule, after: datetime, *, fired: int = 0) -> Fire | None:
    """The first fire after a time that really happens; None when none does within five years of looking.

    Days that the calendars exclude are passed over without counting what they exclude.
    """
    begin = max(after + expected.INSTANT, schedule.policies.start or after)
    coming = expected.after(schedule.trigger, begin - expected.INSTANT)
    most = schedule.policies.max_count
    if coming is None or (most is not None and fired >= most):
        return None
    for stretch in stretches(schedule, coming, min(coming + LOOK_AHEAD, LAST)):
        if stretch.reason is not None or coming >= stretch.until:
            continue
        for fire_time in expected.between(schedule.trigger, max(coming, stretch.since), stretch.until):
            verdict = _single(schedule, fire_time)
            if isinstance(verdict, Fire):
                return verdict
        coming = expected.after(schedule.trigger, stretch.until - expected.INSTANT)
        if coming is None:
            return None
    return None


def check(schedule: Schedule, now: datetime) -> None:
    """Refuses a schedule whose parts contradict each other, or that will never fire."""
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
    # Looked at from its start, or from 1970 on: a time that has passed is no contradiction.
    if following(schedule, policies.start or min(now, FIRST)) is None and following(schedule, now) is None:
        raise InvalidSchedule("with these policies the schedule never fires")


def stretches(schedule: Schedule, since: datetime, until: datetime) -> Iterator[Stretch]:
    """The time between, inside the schedule's own start and end, cut where the calendars change their answer."""
    policies = schedule.policies
    since = max(since, policies.start or since)
    until = min(until, policies.end or until)
    if not policies.calendars:
        if since < until:
            yield Stretch(since, until, None)
        return
    here = expected.zone_of(schedule.trigger)
    while since < until:
        day = since.astimezone(here).date()
        reason = _reason(schedule, day)
        end = day
        while _midnight(end, schedule) < until and _reason(schedule, end) is reason:
            end += timedelta(days=1)
        yield Stretch(since, min(_midnight(end, schedule), until), reason)
        since = _midnight(end, schedule)


def skipped(schedule: Schedule, since: datetime, until: datetime, reason: SkipReason) -> Iterator[Skip]:
    """One verdict for all fires of a stretch that do not happen; none when there are none, or the schedule is over."""
    until = min(until, schedule.policies.end or until)
    many = expected.counted(schedule.trigger, since, until) if since < until else 0
    if many:
        first = expected.after(schedule.trigger, since - expected.INSTANT)
        final = expected.last(schedule.trigger, since, until)
        assert first is not None
        assert final is not None
        yield Skip(first, final, many, reason)


def _gone(fire_time: datetime) -> Verdict:
    """Its time was jumped over and the job's policy is to skip it; it is told where the jump happens."""
    return Skip(fire_time, fire_time, 1, SkipReason.DST_GAP)


def _single(schedule: Schedule, fire_time: datetime) -> Verdict:
    for override in schedule.overrides:
        if override.at == fire_time:
            if override.to is None:
                return Skip(fire_time, fire_time, 1, SkipReason.REQUESTED)
            return Fire(fire_time, override.to)
    return Fire(fire_time, fire_time + offset(schedule.policies.spread, schedule.key, fire_time))


def _reason(schedule: Schedule, day: date) -> SkipReason | None:
    match calendars.allows(schedule.policies.calendars, schedule.calendars, day):
        case True:
            return None
        case False:
            return SkipReason.CALENDAR
        case None:
            return SkipReason.CALENDAR_UNKNOWN


def _midnight(day: date, schedule: Schedule) -> datetime:
    """When that day begins where the schedule lives."""
    return datetime.combine(day, time(), expected.zone_of(schedule.trigger)).astimezone(UTC)
