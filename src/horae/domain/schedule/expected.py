"""The fires a trigger asks for, before any policy: the next one, the last one, how many."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import msgspec

from horae.domain.cron import DstPolicy, Gap, count
from horae.domain.timeline import DAY, EPOCH, reaching
from horae.domain.triggers import CronTrigger, IntervalTrigger, OnceTrigger, Trigger, next_fire
from horae.domain.zones import zone

INSTANT = timedelta(microseconds=1)
SECOND = timedelta(seconds=1)


def after(trigger: Trigger, at: datetime) -> datetime | None:
    """The first fire strictly after a time; None for triggers that have none of their own."""
    if isinstance(trigger, OnceTrigger):
        only = trigger.at.astimezone(UTC)
        return only if only > at else None
    return next_fire(trigger, at)


def between(trigger: Trigger, since: datetime, until: datetime) -> Iterator[datetime]:
    """Every fire from `since` to `until` (excluded), in order."""
    found = after(trigger, since - INSTANT)
    while found is not None and found < until:
        yield found
        found = after(trigger, found)


def owed(trigger: Trigger, since: datetime, until: datetime) -> Iterator[tuple[datetime, bool]]:
    """Every fire as `between` has it, and with False those that a jump of the clocks removes, where it happens."""
    if not isinstance(trigger, CronTrigger) or trigger.dst_gap is not Gap.SKIP or trigger.compiled().elapsed:
        yield from ((found, True) for found in between(trigger, since, until))
        return
    policy = DstPolicy(trigger.dst_gap, trigger.dst_overlap)
    jumps = set(reaching(zone(trigger.zone), policy, (until - EPOCH) // SECOND).starts)
    for found in between(msgspec.structs.replace(trigger, dst_gap=Gap.FIRE_AFTER), since, until):
        at_jump = (found - EPOCH) // SECOND in jumps
        yield found, not at_jump or after(trigger, found - INSTANT) == found


def counted(trigger: Trigger, since: datetime, until: datetime) -> int:
    """How many fires lie from `since` to `until` (excluded), without visiting them."""
    match trigger:
        case CronTrigger():
            policy = DstPolicy(trigger.dst_gap, trigger.dst_overlap)
            return count(trigger.compiled(), since, until, zone(trigger.zone), policy)
        case IntervalTrigger(every, anchor):
            step = timedelta(seconds=every)
            past = -(max(since, anchor) - anchor) // step
            return max(-(-(until - anchor) // step) + past, 0)
        case _:
            found = after(trigger, since - INSTANT)
            return int(found is not None and found < until)


def last(trigger: Trigger, since: datetime, until: datetime) -> datetime | None:
    """The latest fire from `since` to `until` (excluded), found by halving."""
    found = after(trigger, since - INSTANT)
    if found is None or found >= until:
        return None
    low, high = found, until
    while high - low > SECOND:
        middle = low + (high - low) / 2
        coming = after(trigger, middle - INSTANT)
        if coming is not None and coming < until:
            low = found = coming
        else:
            high = middle
    while (coming := after(trigger, found)) is not None and coming < until:  # shorter than a second
        found = coming
    return found


def newest(trigger: Trigger, since: datetime, until: datetime, many: int) -> datetime:
    """From when on there are at most so many fires before `until`; never earlier than `since`."""
    low, high = (since - EPOCH) // SECOND, -((EPOCH - until) // SECOND)
    if counted(trigger, since, until) <= many:
        return since
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if counted(trigger, EPOCH + middle * SECOND, until) > many else (low, middle)
    return EPOCH + high * SECOND


def zone_of(trigger: Trigger) -> ZoneInfo:
    """Whose days count for a calendar: the trigger's own zone, or UTC."""
    return zone(trigger.zone if isinstance(trigger, CronTrigger) else "UTC")


def shortest_gap(trigger: Trigger) -> timedelta | None:
    """The least time between two fires of days that follow each other; None when there is only one."""
    match trigger:
        case CronTrigger():
            minutes, seconds = trigger.compiled().minutes, trigger.compiled().seconds
            within = [later - sooner for sooner, later in pairwise(seconds)]
            between = [later - sooner for sooner, later in pairwise((*minutes, minutes[0] + DAY))]
            return timedelta(seconds=min([*within, min(between) - seconds[-1] + seconds[0]]))
        case IntervalTrigger(every):
            return timedelta(seconds=every)
        case _:
            return None
