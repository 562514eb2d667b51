"""The seconds at which one schedule fires inside a window, computed from masks of days instead of fire by fire."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import chain, groupby, islice
from typing import Final, NamedTuple

from horae.domain.cron import CronExpression, DstPolicy
from horae.domain.schedules import FireVerdict, Schedule, fires
from horae.domain.schedules.calendars import allows
from horae.domain.schedules.expected import between, count_between
from horae.domain.schedules.spread import offset
from horae.domain.schedules.triggers import CronTrigger, IntervalTrigger
from horae.domain.zones.dst import ELAPSED
from horae.domain.zones.timeline import DAY_S, EPOCH, timeline_until
from horae.domain.zones.zones import zone

SECOND = timedelta(seconds=1)
MINUTE_S: Final = 60
MICROSECOND: Final = timedelta(microseconds=1)
PORTION: Final = 10_000
"""Fires per portion that are computed by arithmetic: about a millisecond."""
WALKED_PORTION: Final = 200
"""Fires per portion that are walked: a few milliseconds."""
WALKED_COST: Final = 200
"""The cost of one walked fire, in computed fires."""
SCHEDULE_COST: Final = 200
"""The cost of a schedule without fires, in computed fires."""


class Window(NamedTuple):
    """From `begin` to `end` (excluded), in seconds since 1970."""

    begin: int
    end: int

    @classmethod
    def of(cls, since: datetime, until: datetime) -> "Window":
        """Return the whole seconds from `since` to `until`."""
        return cls(-((EPOCH - since) // SECOND), -((EPOCH - until) // SECOND))


def pattern(schedule: Schedule) -> object:
    """Return a value that is equal for schedules with the same seconds; a walked schedule has a pattern of its own."""
    if is_walked(schedule):
        return id(schedule)
    trigger, policies = schedule.trigger, schedule.policies
    rest = (policies.start, policies.end, policies.calendars, id(schedule.calendars) if policies.calendars else 0)
    later = _later(schedule)
    if isinstance(trigger, CronTrigger):
        cron = trigger.compiled()
        # Equal masks are the same object, because they are cached: comparing ids is cheap.
        times = (id(cron.minutes), id(cron.seconds), id(cron.days), cron.months, cron.years, cron.elapsed)
        return times, trigger.zone, trigger.dst_gap, trigger.dst_overlap, later, rest
    return trigger, later, rest


def portions(schedule: Schedule, window: Window) -> Iterator[list[int]]:
    """Yield the seconds at which fires are due, relative to the window's begin, in no particular order.

    Each portion takes a few milliseconds at most. A portion may be empty.
    """
    trigger = schedule.trigger
    if is_walked(schedule):
        yield from _walk_seconds(schedule, window)
    elif isinstance(trigger, IntervalTrigger):
        yield from _interval(schedule, trigger, window)
    else:
        later = _later(schedule)
        early = Window(window.begin - later, window.end - later)
        bounded = _within_policies(schedule, early)
        shift = bounded.begin - early.begin
        for found in _nominal(schedule, bounded):
            yield [second + shift for second in found] if shift else found


def seconds(schedule: Schedule, window: Window) -> list[int]:
    """Return all portions as one list."""
    return list(chain.from_iterable(portions(schedule, window)))


def cost(schedule: Schedule, window: Window) -> int:
    """Return the work for a schedule, in computed fires. No fire is visited."""
    since, until = (datetime.fromtimestamp(at, UTC) for at in window)
    if not is_walked(schedule):
        return SCHEDULE_COST + count_between(schedule.trigger, since, until)
    slack = _slack(schedule)
    many = count_between(schedule.trigger, since - slack, until + slack)
    most = schedule.policies.max_count
    return SCHEDULE_COST + WALKED_COST * (many if most is None else min(many, most))


def is_walked(schedule: Schedule) -> bool:
    """Whether the fires depend on more than the clock: then they are computed one by one."""
    return bool(schedule.overrides or schedule.policies.max_count is not None or schedule.policies.spread.jitter)


def _later(schedule: Schedule) -> int:
    return int(offset(schedule.policies.spread, schedule.key, EPOCH).total_seconds())


def _slack(schedule: Schedule) -> timedelta:
    """Return how far outside the window a fire may lie that is due inside it, or that affects the count."""
    spread = schedule.policies.spread
    counts = schedule.overrides or schedule.policies.max_count is not None
    return timedelta(seconds=spread.window + spread.jitter + (DAY_S if counts else 0))


def _walk_seconds(schedule: Schedule, window: Window) -> Iterator[list[int]]:
    since, until = (datetime.fromtimestamp(at, UTC) for at in window)
    slack = _slack(schedule)
    verdicts = fires(schedule, since - slack, until + slack)
    while portion := list(islice(verdicts, WALKED_PORTION)):
        due = [(one.due_at - EPOCH) // SECOND for one in portion if isinstance(one, FireVerdict)]
        yield [at - window.begin for at in due if window.begin <= at < window.end]


def _within_policies(schedule: Schedule, window: Window) -> Window:
    start, end = schedule.policies.start, schedule.policies.end
    begin = window.begin if start is None else max(window.begin, -((EPOCH - start) // SECOND))
    stop = window.end if end is None else min(window.end, -((EPOCH - end) // SECOND))
    return Window(begin, max(begin, stop))


def _interval(schedule: Schedule, trigger: IntervalTrigger, window: Window) -> Iterator[list[int]]:
    """Compute in microseconds: fire number k is at the anchor plus k steps."""
    policies = schedule.policies
    later = offset(policies.spread, schedule.key, EPOCH) // MICROSECOND
    step, anchor = timedelta(seconds=trigger.every) // MICROSECOND, (trigger.anchor - EPOCH) // MICROSECOND
    low, high = (at * 1_000_000 - later for at in window)
    low = low if policies.start is None else max(low, (policies.start - EPOCH) // MICROSECOND)
    high = high if policies.end is None else min(high, (policies.end - EPOCH) // MICROSECOND)
    first, last = max(-((anchor - low) // step), 0), -((anchor - high) // step)
    for begin in range(first, last, PORTION):
        nominal: Iterable[int] = range(anchor + begin * step, anchor + min(begin + PORTION, last) * step, step)
        if policies.calendars:
            nominal = _on_allowed_days(schedule, nominal)
        yield [(at + later) // 1_000_000 - window.begin for at in nominal]


def _on_allowed_days(schedule: Schedule, times: Iterable[int]) -> Iterator[int]:
    """Return the times, in microseconds, whose UTC day the calendars allow."""
    for day, found in groupby(times, lambda at: at // (DAY_S * 1_000_000)):
        if _allowed(schedule, date.fromordinal(EPOCH.toordinal() + day)):
            yield from found


def _nominal(schedule: Schedule, window: Window) -> Iterator[list[int]]:
    trigger = schedule.trigger
    if isinstance(trigger, CronTrigger):
        yield from _cron(schedule, trigger, window)
        return
    since, until = (datetime.fromtimestamp(at, UTC) for at in window)
    yield [
        (at - EPOCH) // SECOND - window.begin for at in between(trigger, since, until) if _allowed(schedule, at.date())
    ]


def _cron(schedule: Schedule, trigger: CronTrigger, window: Window) -> Iterator[list[int]]:
    """Yield the seconds of a cron trigger, span by span of its zone.

    1. Cut each span to the window, in local time.
    2. Yield the fire that a jump of the clocks moves to the start of the span.
    3. Yield the matching local times of the span.
    """
    cron, here = trigger.compiled(), zone(trigger.zone)
    policy = ELAPSED if cron.elapsed else DstPolicy(trigger.dst_gap, trigger.dst_overlap)
    starts, spans, _ = timeline_until(here, policy, window.end)
    for start, ahead, low, high, hole in spans[bisect_right(starts, window.begin) - 1 :]:
        if start >= window.end:
            break
        inside = (max(low, window.begin + ahead), min(high, window.end + ahead))
        jumped = hole is not None and start >= window.begin and cron.is_skipped_by_jump(hole, low)
        if jumped and _allowed(schedule, date.fromordinal(EPOCH.toordinal() + low // DAY_S)):
            yield [start - window.begin]
        yield from _span(schedule, cron, inside, ahead + window.begin)


def _span(schedule: Schedule, cron: CronExpression, inside: tuple[int, int], base: int) -> Iterator[list[int]]:
    """Yield the matching local times of a span, some minutes at a time, relative to the window's begin."""
    low, high = inside
    minutes, seconds, at_once = cron.minutes, cron.seconds, PORTION // len(cron.seconds)
    for day in range(low // DAY_S, -(-high // DAY_S)):
        if not cron.on(day) or not _allowed(schedule, date.fromordinal(EPOCH.toordinal() + day)):
            continue
        midnight = day * DAY_S
        first, last = bisect_right(minutes, low - midnight - MINUTE_S), bisect_left(minutes, high - midnight)
        for begin in range(first, last, at_once):
            part, moved = minutes[begin : min(begin + at_once, last)], midnight - base
            found = [moved + minute + second for minute in part for second in seconds]
            whole = low <= midnight + part[0] and midnight + part[-1] + MINUTE_S <= high
            yield found if whole else [at for at in found if low <= at + base < high]


def _allowed(schedule: Schedule, day: date) -> bool:
    rules = schedule.policies.calendars
    return not rules or allows(rules, schedule.calendars, day) is True
