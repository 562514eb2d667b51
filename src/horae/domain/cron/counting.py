"""How many fires lie between two times, without visiting them: whole days are counted by their masks."""

from bisect import bisect_left, bisect_right
from datetime import date, datetime
from zoneinfo import ZoneInfo

from horae.domain.cron.engine import EPOCH_ORDINAL, FIRST_YEAR, SECOND, Cron, months
from horae.domain.dst import DEFAULT, ELAPSED, DstPolicy
from horae.domain.timeline import DAY, EPOCH, START, reaching


def count(cron: Cron, since: datetime, until: datetime, zone: ZoneInfo, policy: DstPolicy = DEFAULT) -> int:
    """As many as `cron.fires(since, until, zone, policy)` would yield."""
    begin, end = -((EPOCH - since) // SECOND), -((EPOCH - until) // SECOND)
    policy = ELAPSED if cron.elapsed else policy
    starts, spans, known = reaching(zone, policy, end)
    begin, end = max(begin, START), min(end, known)
    total = 0
    for start, offset, low, high, hole in spans[max(bisect_right(starts, begin) - 1, 0) :]:
        if start >= end:
            break
        total += _local(cron, max(low, begin + offset), min(high, end + offset))
        if hole is not None and begin <= start:
            total += cron.jumped(hole, low)
    return total


def _local(cron: Cron, low: int, high: int) -> int:
    """Matching local times from low to high (excluded), as if clocks never changed."""
    if low >= high:
        return 0
    first, last = low // DAY, high // DAY
    daily = len(cron.minutes) * len(cron.seconds)
    total = daily * _days(cron, first, last)
    if cron.on(first):
        total -= _times(cron, low % DAY)
    if high % DAY and cron.on(last):
        total += _times(cron, high % DAY)
    return total


def _times(cron: Cron, before: int) -> int:
    """Matching times of day before a second of the day."""
    seconds = cron.seconds
    whole = bisect_left(cron.minutes, before - seconds[-1])
    total = whole * len(seconds)
    if whole < len(cron.minutes):
        total += bisect_left(seconds, before - cron.minutes[whole])
    return total


def _days(cron: Cron, first: int, last: int) -> int:
    """Matching days from first to last (excluded), counted from 1970."""
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
