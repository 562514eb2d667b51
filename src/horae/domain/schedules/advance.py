"""Moves a cursor: what happens to the fires it has reached, and where it goes next."""

from datetime import datetime, timedelta

import msgspec

from horae.domain.cron import Gap
from horae.domain.instances.outcomes import SkipReason
from horae.domain.schedules import expected
from horae.domain.schedules.catchup import catch_up
from horae.domain.schedules.misfire import ON_TIME_TOLERANCE_S
from horae.domain.schedules.policies import Policies
from horae.domain.schedules.triggers import CronTrigger, next_fire
from horae.domain.schedules.verdicts import FireVerdict, Schedule, SkipVerdict, Verdict, fires, skip_verdicts

ON_TIME_TOLERANCE = timedelta(seconds=ON_TIME_TOLERANCE_S)
"""A fire that is later than this counts as missed."""
LONGEST_SKIP = timedelta(days=1)
"""How far one verdict for an excluded day reaches."""
PLAIN = Policies()


class Step(msgspec.Struct, frozen=True):
    """The verdicts, oldest first, and the next position of the cursor; None when no fire is left."""

    verdicts: tuple[Verdict, ...]
    wake: datetime | None


def wake_of(schedule: Schedule, fire_time: datetime) -> datetime:
    """Return when a fire must be looked at: at its time, or earlier when an override moved it forward."""
    for override in schedule.overrides:
        if override.at == fire_time and override.to is not None:
            return min(override.to, fire_time)
    return fire_time


def fire_at(schedule: Schedule, wake: datetime) -> datetime:
    """Return the fire for the position of a cursor; the inverse of `wake_of`."""
    for override in schedule.overrides:
        if override.to == wake and override.to < override.at:
            return override.at
    return wake


def first_wake(schedule: Schedule, after: datetime, *, fired: int = 0) -> datetime | None:
    """Return the first position of a cursor after a time; None when the schedule is over."""
    policies = schedule.policies
    if policies.start is not None:
        after = max(after, policies.start - expected.TIME_RESOLUTION)
    if policies.max_count is not None and fired >= policies.max_count:
        return None
    found = expected.after(schedule.trigger, after)
    if found is None or (policies.end is not None and found >= policies.end):
        return None
    return wake_of(schedule, found)


def wake_after_change(
    before: Schedule, after: Schedule, stood_at: datetime | None, now: datetime, *, fired: int = 0
) -> datetime | None:
    """Return the next position of a cursor that stood after `now` when its schedule, or the days of it, changed.

    A fire that was moved forward and is made is not made again, although its own time is still to come.
    """
    made = {
        one.at
        for one in before.overrides
        if one.to is not None and one.to <= now < one.at and (stood_at is None or one.at < stood_at)
    }
    wake = first_wake(after, now, fired=fired)
    while wake is not None and (at := fire_at(after, wake)) in made:
        wake = first_wake(after, at, fired=fired)
    return wake


def advance(schedule: Schedule, stood_at: datetime, now: datetime, *, fired: int = 0) -> Step:
    """Return the verdicts for the fire that a cursor has reached and for all missed fires, and its next position.

    1. A fire that is more than `ON_TIME_TOLERANCE` ago starts catch-up, which covers every fire up to now.
    2. A schedule without policies gets one verdict: the short way for nearly all fires.
    3. Any other schedule gets the verdicts of its policies.
    4. Without a verdict the position is no fire any more (zone rules changed, or the schedule is over): the cursor
       moves on.
    5. Otherwise the cursor moves past the last verdict. Fires that a clock change skips in between get a verdict too.
    """
    fire_time = fire_at(schedule, stood_at)
    if now - fire_time > ON_TIME_TOLERANCE:
        verdicts = catch_up(schedule, fire_time, now, fired=fired)
    elif _plain(schedule):
        return Step((FireVerdict(fire_time, fire_time),), next_fire(schedule.trigger, fire_time))
    else:
        verdicts = _on_time(schedule, fire_time, fired)
    if not verdicts:  # the position is no longer a fire of this schedule
        return Step((), first_wake(schedule, fire_time if now - fire_time <= ON_TIME_TOLERANCE else now, fired=fired))
    fired += sum(isinstance(verdict, FireVerdict) for verdict in verdicts)
    last = max(verdict.until if isinstance(verdict, SkipVerdict) else verdict.fire_time for verdict in verdicts)
    wake = first_wake(schedule, last, fired=fired)
    return Step((*verdicts, *_skips_by_clock_change(schedule, last, wake)), wake)


def verdicts_with_positions(step: Step, schedule: Schedule) -> list[tuple[Verdict, datetime | None]]:
    """Return each verdict of a step with the cursor's position after it."""
    wakes = [
        wake_of(schedule, verdict.fire_time) if isinstance(verdict, FireVerdict) else verdict.fire_time
        for verdict in step.verdicts
    ]
    return list(zip(step.verdicts, [*wakes[1:], step.wake], strict=False))


def skip_until(schedule: Schedule, stood_at: datetime, until: datetime, reason: SkipReason, *, fired: int = 0) -> Step:
    """Skip all fires from a cursor's position to a time, as one verdict, and move the cursor past them.

    A later fire that was moved to before that time is skipped too: the cursor moves past that fire.
    """
    first = fire_at(schedule, stood_at)
    last = max(first, until)
    coming = first_wake(schedule, last, fired=fired)
    if coming is not None and coming <= until:
        last = fire_at(schedule, coming)
        coming = first_wake(schedule, last, fired=fired)
    return Step(tuple(skip_verdicts(schedule, first, last + expected.TIME_RESOLUTION, reason)), coming)


def _plain(schedule: Schedule) -> bool:
    """Whether only the trigger decides about the fires; this is true for nearly all schedules."""
    trigger = schedule.trigger
    skips = isinstance(trigger, CronTrigger) and trigger.dst_gap is Gap.SKIP
    return not skips and not schedule.overrides and schedule.policies == PLAIN


def _on_time(schedule: Schedule, fire_time: datetime, fired: int) -> list[Verdict]:
    found = list(fires(schedule, fire_time, fire_time + expected.TIME_RESOLUTION, fired=fired))
    if found and isinstance(found[0], SkipVerdict) and found[0].reason != SkipReason.REQUESTED:
        # An excluded day is one verdict, not one per second.
        return [next(fires(schedule, fire_time, fire_time + LONGEST_SKIP, fired=fired))]
    return found


def _skips_by_clock_change(schedule: Schedule, last: datetime, wake: datetime | None) -> list[Verdict]:
    """Return skip verdicts for fires that the clocks jump over; a cursor is never positioned at them."""
    trigger = schedule.trigger
    if wake is None or not isinstance(trigger, CronTrigger) or trigger.dst_gap is not Gap.SKIP:
        return []
    owed = expected.between_with_gaps(trigger, last + expected.TIME_RESOLUTION, fire_at(schedule, wake))
    return [SkipVerdict(at, at, 1, SkipReason.DST_GAP) for at, exists in owed if not exists]
