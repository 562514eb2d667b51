"""Where a cursor stands, what becomes of the fires it has reached, and where it goes from there."""

from datetime import datetime, timedelta

import msgspec

from horae.domain.cron import Gap
from horae.domain.outcomes import SkipReason
from horae.domain.schedule import expected
from horae.domain.schedule.catchup import catch_up
from horae.domain.schedule.misfire import ON_TIME
from horae.domain.schedule.plan import Fire, Schedule, Skip, Verdict, fires, skipped
from horae.domain.schedule.policies import Policies
from horae.domain.triggers import CronTrigger, next_fire

LATE = timedelta(seconds=ON_TIME)
LONGEST_SKIP = timedelta(days=1)
PLAIN = Policies()


class Step(msgspec.Struct, frozen=True):
    """The verdicts, oldest first, and the time the cursor goes to; None when no fire is left."""

    verdicts: tuple[Verdict, ...]
    wake: datetime | None


def wake_of(schedule: Schedule, fire_time: datetime) -> datetime:
    """When a fire has to be looked at: at its time, or sooner when it was moved forward."""
    for override in schedule.overrides:
        if override.at == fire_time and override.to is not None:
            return min(override.to, fire_time)
    return fire_time


def fire_at(schedule: Schedule, wake: datetime) -> datetime:
    """The fire a cursor stands at; the other way round."""
    for override in schedule.overrides:
        if override.to == wake and override.to < override.at:
            return override.at
    return wake


def first_wake(schedule: Schedule, after: datetime, *, fired: int = 0) -> datetime | None:
    """Where a cursor begins, or goes on behind a fire; None when the schedule is over."""
    policies = schedule.policies
    if policies.start is not None:
        after = max(after, policies.start - expected.INSTANT)
    if policies.max_count is not None and fired >= policies.max_count:
        return None
    found = expected.after(schedule.trigger, after)
    if found is None or (policies.end is not None and found >= policies.end):
        return None
    return wake_of(schedule, found)


def advance(schedule: Schedule, stood_at: datetime, now: datetime, *, fired: int = 0) -> Step:
    """What becomes of the fire a cursor has reached, and of all it has missed; then where it goes."""
    fire_time = fire_at(schedule, stood_at)
    if now - fire_time > LATE:
        verdicts = catch_up(schedule, fire_time, now, fired=fired)
    elif _plain(schedule):
        return Step((Fire(fire_time, fire_time),), next_fire(schedule.trigger, fire_time))
    else:
        verdicts = _on_time(schedule, fire_time, fired)
    if not verdicts:  # no fire of this schedule any more: zone rules changed, or it is over
        return Step((), first_wake(schedule, fire_time if now - fire_time <= LATE else now, fired=fired))
    fired += sum(isinstance(verdict, Fire) for verdict in verdicts)
    last = max(verdict.until if isinstance(verdict, Skip) else verdict.fire_time for verdict in verdicts)
    wake = first_wake(schedule, last, fired=fired)
    return Step((*verdicts, *_jumped(schedule, last, wake)), wake)


def stops(step: Step, schedule: Schedule) -> list[tuple[Verdict, datetime | None]]:
    """Each verdict of a step with where its cursor goes: to the next one, and from the last to the step's end."""
    wakes = [
        wake_of(schedule, verdict.fire_time) if isinstance(verdict, Fire) else verdict.fire_time
        for verdict in step.verdicts
    ]
    return list(zip(step.verdicts, [*wakes[1:], step.wake], strict=False))


def passed(schedule: Schedule, stood_at: datetime, until: datetime, reason: SkipReason, *, fired: int = 0) -> Step:
    """All fires from where a cursor stands to a time do not happen, as one verdict; then it goes on from there.

    A fire behind that time that was moved to before it is one of them: the cursor goes on behind that fire.
    """
    first = fire_at(schedule, stood_at)
    last = max(first, until)
    coming = first_wake(schedule, last, fired=fired)
    if coming is not None and coming <= until:
        last = fire_at(schedule, coming)
        coming = first_wake(schedule, last, fired=fired)
    return Step(tuple(skipped(schedule, first, last + expected.INSTANT, reason)), coming)


def _plain(schedule: Schedule) -> bool:
    """Nothing decides about its fires but the trigger: the way of nearly all fires, and the short one."""
    trigger = schedule.trigger
    skips = isinstance(trigger, CronTrigger) and trigger.dst_gap is Gap.SKIP
    return not skips and not schedule.overrides and schedule.policies == PLAIN


def _on_time(schedule: Schedule, fire_time: datetime, fired: int) -> list[Verdict]:
    found = list(fires(schedule, fire_time, fire_time + expected.INSTANT, fired=fired))
    if found and isinstance(found[0], Skip) and found[0].reason != SkipReason.REQUESTED:
        # A day that is excluded is one verdict, not one per second of it.
        return [next(fires(schedule, fire_time, fire_time + LONGEST_SKIP, fired=fired))]
    return found


def _jumped(schedule: Schedule, last: datetime, wake: datetime | None) -> list[Verdict]:
    """Fires between two others that the clocks jump over and the policy skips: no cursor ever stands at them."""
    trigger = schedule.trigger
    if wake is None or not isinstance(trigger, CronTrigger) or trigger.dst_gap is not Gap.SKIP:
        return []
    owed = expected.owed(trigger, last + expected.INSTANT, fire_at(schedule, wake))
    return [Skip(at, at, 1, SkipReason.DST_GAP) for at, exists in owed if not exists]
