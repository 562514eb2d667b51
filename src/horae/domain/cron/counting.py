"""Counts the fires between two times without visiting them: whole days are counted by their masks."""

from bisect import bisect_left, bisect_right
from datetime import date, datetime
from zoneinfo import ZoneInfo

from horae.domain.cron.engine import EPOCH_ORDINAL, FIRST_YEAR, SECOND, CronExpression, months
from horae.domain.zones.dst import DEFAULT, ELAPSED, DstPolicy
from horae.domain.zones.timeline import DAY_S, EPOCH, START_EPOCH_S, timeline_until


def count(cron: CronExpression, since: datetime, until: datetime, zone: ZoneInfo, policy: DstPolicy = DEFAULT) -> int:
    """Return how many fires `cron.fires(since, until, zone, policy)` would yield.

    1. Cut the range at the spans of the zone. Within a span local time is UTC plus a constant.
    2. Count the matching local times of each span.
    3. Add the fire that a jump of the clocks moves to the beginning of a span.
    """
    begin, end = -((EPOCH - since) // SECOND), -((EPOCH - until) // SECOND)
    policy = ELAPSED if cron.elapsed else policy
    starts, spans, known = timeline_until(zone, policy, end)
    begin, end = max(begin, START_EPOCH_S), min(end, known)
    total = 0
    for start, offset, low, high, hole in spans[max(bisect_right(starts, begin) - 1, 0) :]:
        if start >= end:
            break
        total += _local(cron, max(low, begin + offset), min(high, end + offset))
        if hole is not None and begin <= start:
            total += cron.is_skipped_by_jump(hole, low)
    return total


def _local(cron: CronExpression, low: int, high: int) -> int:
    """Count matching local times from `low` to `high` (excluded), as if clocks never changed."""
    if low >= high:
        return 0
    first, last = low // DAY_S, high // DAY_S
    daily = len(cron.minutes) * len(cron.seconds)
    total = daily * _days(cron, first, last)
    if cron.on(first):
        total -= _times(cron, low % DAY_S)
    if high % DAY_S and cron.on(last):
        total += _times(cron, high % DAY_S)
    return total


def _times(cron: CronExpression, before: int) -> int:
    """Count matching times of day before a second of the day."""
    seconds = cron.seconds
    whole = bisect_left(cron.minutes, before - seconds[-1])
    total = whole * len(seconds)
    if whole < len(cron.minutes):
        total += bisect_left(seconds, before - cron.minutes[whole])
    return total


def _days(cron: CronExpression, first: int, last: int) -> int:
    """Count matching days from `first` to `last` (excluded); days are numbered from 1970."""
    if cron.days is None or first >= last:
        return max(last - first, 0)
    begin, end = date.fromordinal(first + EPOCH_ORDINAL), date.fromordinal(last + EPOCH_ORDINAL)
    total = 0
    for year in range(begin.year, end.year + 1):
        if cron.years and not (year >= FIRST_YEAR and cron.years >> (year - FIRST_YEAR) & 1):
            continue
        for number, (_, form) in enumerate(months(year), 1):
            if cron.months >> number & 1 and begin.replace(day=1) <= date(year, number, 1) <= end:
                mask = cron.days[form]
                if (year, number) == (begin.year, begin.month):
                    mask = mask >> begin.day << begin.day
                if (year, number) == (end.year, end.month):
                    mask &= (1 << end.day) - 1
                total += mask.bit_count()
    return total
