"""The fires that a trigger produces, before any policy: the next one, the last one, their number."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import msgspec

from horae.domain.cron import DstPolicy, Gap, count
from horae.domain.schedules.triggers import CronTrigger, IntervalTrigger, OnceTrigger, Trigger, next_fire
from horae.domain.zones.timeline import DAY_S, EPOCH, timeline_until
from horae.domain.zones.zones import zone

TIME_RESOLUTION = timedelta(microseconds=1)
"""The smallest difference between two times."""
SECOND = timedelta(seconds=1)
LOOKS_BACK = [timedelta(days=days) for days in (1, 40, 400, 3_700)]
"""How far back a previous fire is looked for, step by step; a leap day may be eight years after another."""


def after(trigger: Trigger, at: datetime) -> datetime | None:
    """Return the first fire strictly after a time; None for triggers without fires of their own."""
    if isinstance(trigger, OnceTrigger):
        only = trigger.at.astimezone(UTC)
        return only if only > at else None
    return next_fire(trigger, at)


def between(trigger: Trigger, since: datetime, until: datetime) -> Iterator[datetime]:
    """Yield every fire from `since` to `until` (excluded), in order."""
    found = after(trigger, since - TIME_RESOLUTION)
    while found is not None and found < until:
        yield found
        found = after(trigger, found)


def between_with_gaps(trigger: Trigger, since: datetime, until: datetime) -> Iterator[tuple[datetime, bool]]:
    """Yield the fires of `between` with True; with False the fires that a clock change removes, at its time."""
    if not isinstance(trigger, CronTrigger) or trigger.dst_gap is not Gap.SKIP or trigger.compiled().elapsed:
        yield from ((found, True) for found in between(trigger, since, until))
        return
    policy = DstPolicy(trigger.dst_gap, trigger.dst_overlap)
    jumps = set(timeline_until(zone(trigger.zone), policy, (until - EPOCH) // SECOND).starts)
    for found in between(msgspec.structs.replace(trigger, dst_gap=Gap.FIRE_AFTER), since, until):
        at_jump = (found - EPOCH) // SECOND in jumps
        yield found, not at_jump or after(trigger, found - TIME_RESOLUTION) == found


def count_between(trigger: Trigger, since: datetime, until: datetime) -> int:
    """Count the fires from `since` to `until` (excluded) without visiting them."""
    match trigger:
        case CronTrigger():
            policy = DstPolicy(trigger.dst_gap, trigger.dst_overlap)
            return count(trigger.compiled(), since, until, zone(trigger.zone), policy)
        case IntervalTrigger(every, anchor):
            step = timedelta(seconds=every)
            past = -(max(since, anchor) - anchor) // step
            return max(-(-(until - anchor) // step) + past, 0)
        case _:
            found = after(trigger, since - TIME_RESOLUTION)
            return int(found is not None and found < until)


def last_between(trigger: Trigger, since: datetime, until: datetime) -> datetime | None:
    """Return the latest fire from `since` to `until` (excluded), by binary search."""
    found = after(trigger, since - TIME_RESOLUTION)
    if found is None or found >= until:
        return None
    low, high = found, until
    while high - low > SECOND:
        middle = low + (high - low) / 2
        coming = after(trigger, middle - TIME_RESOLUTION)
        if coming is not None and coming < until:
            low = found = coming
        else:
            high = middle
    while (coming := after(trigger, found)) is not None and coming < until:  # fires less than a second apart
        found = coming
    return found


def previous_fire(trigger: Trigger, fire_time: datetime) -> datetime | None:
    """Return the fire before one; None if there is none in ten years. Calendars, pauses and moves are not asked."""
    return next((found for back in LOOKS_BACK if (found := last_between(trigger, fire_time - back, fire_time))), None)


def start_of_newest(trigger: Trigger, since: datetime, until: datetime, many: int) -> datetime:
    """Return from when on there are at most `many` fires before `until`; never earlier than `since`."""
    low, high = (since - EPOCH) // SECOND, -((EPOCH - until) // SECOND)
    if count_between(trigger, since, until) <= many:
        return since
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count_between(trigger, EPOCH + middle * SECOND, until) > many else (low, middle)
    return EPOCH + high * SECOND


def zone_of(trigger: Trigger) -> ZoneInfo:
    """Return the zone whose days count for a calendar: the trigger's own zone, or UTC."""
    return zone(trigger.zone if isinstance(trigger, CronTrigger) else "UTC")


def shortest_gap(trigger: Trigger) -> timedelta | None:
    """Return the least time between two fires on consecutive days; None for triggers with at most one fire."""
    match trigger:
        case CronTrigger():
            minutes, seconds = trigger.compiled().minutes, trigger.compiled().seconds
            within = [later - sooner for sooner, later in pairwise(seconds)]
            between = [later - sooner for sooner, later in pairwise((*minutes, minutes[0] + DAY_S))]
            return timedelta(seconds=min([*within, min(between) - seconds[-1] + seconds[0]]))
        case IntervalTrigger(every):
            return timedelta(seconds=every)
        case _:
            return None
