"""The seconds of one schedule inside a window, from the masks of its days rather than fire by fire."""

from bisect import bisect_right
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from horae.domain.calendars import allows
from horae.domain.cron import Cron, DstPolicy
from horae.domain.dst import ELAPSED
from horae.domain.schedule import Fire, Schedule, fires
from horae.domain.schedule.expected import between
from horae.domain.schedule.spread import offset
from horae.domain.timeline import DAY, EPOCH, reaching
from horae.domain.triggers import CronTrigger, IntervalTrigger
from horae.domain.zones import zone

SECOND = timedelta(seconds=1)


class Window(NamedTuple):
    """From `begin` to `end` (excluded), in seconds since 1970."""

    begin: int
    end: int

    @classmethod
    def of(cls, since: datetime, until: datetime) -> "Window":
        """The whole seconds from `since` to `until`."""
        return cls(-((EPOCH - since) // SECOND), -((EPOCH - until) // SECOND))


def pattern(schedule: Schedule) -> object:
    """Equal for schedules that fire at the same seconds; a schedule of its own kind is its own pattern."""
    if _is_odd(schedule):
        return id(schedule)
    trigger, policies = schedule.trigger, schedule.policies
    rest = (policies.start, policies.end, policies.calendars, id(schedule.calendars) if policies.calendars else 0)
    later = _later(schedule)
    if isinstance(trigger, CronTrigger):
        cron = trigger.compiled()
        # Equal masks are one object: they come from caches, and comparing addresses is cheap.
        times = (id(cron.minutes), id(cron.seconds), id(cron.days), cron.months, cron.years, cron.elapsed)
        return times, trigger.zone, trigger.dst_gap, trigger.dst_overlap, later, rest
    return trigger, later, rest


def seconds(schedule: Schedule, window: Window) -> list[int]:
    """When the schedule's fires are due inside the window, counted from its begin; in no particular order."""
    if _is_odd(schedule):
        return _walked(schedule, window)
    later = _later(schedule)
    early = Window(window.begin - later, window.end - later)
    bounded = _bounded(schedule, early)
    shift = bounded.begin - early.begin
    found = _nominal(schedule, bounded)
    return [second + shift for second in found] if shift else found


def _is_odd(schedule: Schedule) -> bool:
    """Whether fires depend on more than the clock: then they are walked one by one."""
    return bool(schedule.overrides or schedule.policies.max_count is not None or schedule.policies.spread.jitter)


def _later(schedule: Schedule) -> int:
    return int(offset(schedule.policies.spread, schedule.key, EPOCH).total_seconds())


def _walked(schedule: Schedule, window: Window) -> list[int]:
    since, until = (datetime.fromtimestamp(at, UTC) for at in window)
    slack = timedelta(seconds=schedule.policies.spread.window + schedule.policies.spread.jitter + DAY)
    due = [
        (verdict.due_at - EPOCH) // SECOND
        for verdict in fires(schedule, since - slack, until + slack)
        if isinstance(verdict, Fire)
    ]
    return [at - window.begin for at in due if window.begin <= at < window.end]


def _bounded(schedule: Schedule, window: Window) -> Window:
    start, end = schedule.policies.start, schedule.policies.end
    begin = window.begin if start is None else max(window.begin, -((EPOCH - start) // SECOND))
    stop = window.end if end is None else min(window.end, -((EPOCH - end) // SECOND))
    return Window(begin, max(begin, stop))


def _nominal(schedule: Schedule, window: Window) -> list[int]:
    trigger = schedule.trigger
    if isinstance(trigger, CronTrigger):
        return _cron(schedule, trigger, window)
    since, until = (datetime.fromtimestamp(at, UTC) for at in window)
    if isinstance(trigger, IntervalTrigger) and not schedule.policies.calendars and trigger.every % 1 == 0:
        first = (-((EPOCH - trigger.anchor) // SECOND) - window.begin) % int(trigger.every)
        if trigger.anchor <= since:
            return list(range(first, window.end - window.begin, int(trigger.every)))
    return [
        (at - EPOCH) // SECOND - window.begin for at in between(trigger, since, until) if _allowed(schedule, at.date())
    ]


def _cron(schedule: Schedule, trigger: CronTrigger, window: Window) -> list[int]:
    cron, here = trigger.compiled(), zone(trigger.zone)
    policy = ELAPSED if cron.elapsed else DstPolicy(trigger.dst_gap, trigger.dst_overlap)
    found: list[int] = []
    starts, spans, _ = reaching(here, policy, window.end)
    for start, ahead, low, high, hole in spans[bisect_right(starts, window.begin) - 1 :]:
        if start >= window.end:
            break
        inside = (max(low, window.begin + ahead), min(high, window.end + ahead))
        jumped = hole is not None and start >= window.begin and cron.jumped(hole, low)
        if jumped and _allowed(schedule, date.fromordinal(EPOCH.toordinal() + low // DAY)):
            found.append(start - window.begin)
        found.extend(_span(schedule, cron, inside, ahead + window.begin))
    return found


def _span(schedule: Schedule, cron: Cron, inside: tuple[int, int], base: int) -> list[int]:
    """The local times of a span, moved to where the window begins."""
    low, high = inside
    found: list[int] = []
    times = cron.minutes if cron.seconds == (0,) else [m + s for m in cron.minutes for s in cron.seconds]
    for day in range(low // DAY, -(-high // DAY)):
        if not cron.on(day) or not _allowed(schedule, date.fromordinal(EPOCH.toordinal() + day)):
            continue
        midnight = day * DAY
        if low <= midnight and midnight + DAY <= high:
            found.extend([midnight - base + time for time in times])
        else:
            found.extend([midnight - base + time for time in times if low <= midnight + time < high])
    return found


def _allowed(schedule: Schedule, day: date) -> bool:
    rules = schedule.policies.calendars
    return not rules or allows(rules, schedule.calendars, day) is True
