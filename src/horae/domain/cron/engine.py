"""The compiled expression: computes the next fire in a bounded number of counted steps."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from horae.domain.cron.days import shape
from horae.domain.cron.dialects import Dialect
from horae.domain.cron.fields import CronField
from horae.domain.zones.dst import DEFAULT, ELAPSED, DstPolicy
from horae.domain.zones.timeline import DAY_S, END_EPOCH_S, EPOCH, START_EPOCH_S, UNUSED_END_S, timeline_of

SECOND = timedelta(seconds=1)
EPOCH_ORDINAL = EPOCH.toordinal()
"""The ordinal of 1 January 1970: days are numbered from there."""
FIRST_YEAR = 1970
LAST_YEAR = 2199

MAX_STEPS = 4_000
"""Steps that a search takes at most; tests check it."""
# A 29 February on a given weekday recurs within 40 years, also across a century that is not a leap year.
SEARCH_YEARS = 100


@dataclass(frozen=True, slots=True)
class Fields:
    """The parsed fields as written; descriptions and the forecast use them."""

    second: CronField
    minute: CronField
    hour: CronField
    day: CronField
    month: CronField
    weekday: CronField
    year: CronField


@dataclass(frozen=True, slots=True)
class CronExpression:
    """A compiled cron expression. `parse` creates it; two with the same text, dialect and salt are equal.

    `elapsed` expressions follow elapsed time, whatever the DST policy: their hour field is a rhythm (`*`, `*/2`, `H/3`)
    or holds all 24 hours. All others name their hours, and the policy applies.
    """

    text: str
    dialect: Dialect
    fields: Fields
    elapsed: bool
    either: bool  # one matching day field is enough
    seconds: tuple[int, ...]
    minutes: tuple[int, ...]  # of the day, in seconds from local midnight
    months: int
    days: tuple[int, ...] | None  # per shape of month; None when every day of every year matches
    years: int  # bit 0 is 1970; 0 when every year matches

    def next(self, after: datetime, zone: ZoneInfo, policy: DstPolicy = DEFAULT) -> datetime | None:
        """Return the first fire strictly after `after`, in UTC; None when there is none."""
        past = after - EPOCH
        found, _ = self.find(past.days * DAY_S + past.seconds + 1, zone, policy)
        return None if found is None else datetime.fromtimestamp(found, UTC)

    def fires(
        self, since: datetime, until: datetime, zone: ZoneInfo, policy: DstPolicy = DEFAULT
    ) -> Iterator[datetime]:
        """Yield every fire from `since` (included) to `until` (excluded), in UTC, strictly increasing."""
        stop = -((EPOCH - until) // SECOND)
        found, _ = self.find(-((EPOCH - since) // SECOND), zone, policy)
        while found is not None and found < stop:
            yield datetime.fromtimestamp(found, UTC)
            found, _ = self.find(found + 1, zone, policy)

    def find(self, second: int, zone: ZoneInfo, policy: DstPolicy) -> tuple[int | None, int]:
        """Return the first fire at or after a second since 1970, and the number of steps of the search.

        1. Find the span of the zone that holds the second; within it local time is UTC plus a constant.
        2. At the very start of a span, clocks may have jumped over a matching time: then the fire is at that start.
        3. Search the first matching local time, and return it if it lies within the span.
        4. Otherwise continue in the following spans (`_beyond`).
        """
        if self.elapsed:
            policy = ELAPSED
        starts, spans, until = timeline_of(zone, policy)
        while second >= until:
            if until >= END_EPOCH_S - UNUSED_END_S:
                return None, 1
            starts, spans, until = timeline_of(zone, policy, beyond=until)
        k = bisect_right(starts, second) - 1
        if k < 0:
            return self.find(START_EPOCH_S, zone, policy)
        start, offset, low, high, hole = spans[k]
        local = second + offset
        # Clocks may have jumped over a matching time, whose fire is at this instant.
        if second == start and hole is not None:
            found, steps = self._seek(hole, 1)
            if found is not None and found < low:
                return start, steps
        if local < low:  # noqa: PLR1730 - max() is slower than the rest of this line
            local = low
        found, steps = self._seek(local, 1)
        if found is not None and found < high:
            return found - offset, steps
        return self._beyond(k, local, found, steps, zone, policy)

    def on(self, day: int) -> bool:
        """Whether any time of a local day matches; days are numbered from 1 January 1970."""
        return self._day(day, 0)[0] == day

    def is_skipped_by_jump(self, hole: int, low: int) -> bool:
        """Whether clocks that jump from local time `hole` to `low` skip a fire, and `low` itself is no fire."""
        found, _ = self._seek(hole, 0)
        return found is not None and found < low and self._seek(low, 0)[0] != low

    def _beyond(
        self, k: int, sought: int, found: int | None, steps: int, zone: ZoneInfo, policy: DstPolicy
    ) -> tuple[int | None, int]:
        """Continue the search after span `k`. `found` is the first match from the local time `sought` on.

        1. Move to the next span. After the last known span, read more of the zone; the last span then grows.
        2. Search again only if the span starts before `sought` (clocks went back) or after `found`.
        3. Return the match if it lies within the span. A match in the hole before the span fires at the span's start.
        """
        _, spans, until = timeline_of(zone, policy)
        while True:
            k += 1
            steps += 1
            if k == len(spans):
                if found is None or until >= END_EPOCH_S - UNUSED_END_S:
                    return None, steps
                # The known part of the zone ends here: read on, which makes the last span longer.
                _, spans, until = timeline_of(zone, policy, beyond=until)
                k -= 1
                if found < spans[k].high:
                    return found - spans[k].offset, steps
                continue
            start, offset, low, high, hole = spans[k]
            begin = low if hole is None else hole
            # Clocks that went back repeat local times that the last search had already passed.
            if begin < sought or (found is not None and begin > found):
                sought = begin
                found, steps = self._seek(begin, steps)
            elif found is None:
                return None, steps
            if found is not None and found < high:
                return (found - offset if found >= low else start), steps

    def _seek(self, local: int, steps: int) -> tuple[int | None, int]:
        """Return the first matching local time at or after the given one, as if clocks never changed."""
        day, second = divmod(local, DAY_S)
        first: int | None = day
        if self.days is not None:
            first, steps = self._day(day, steps)
        minutes, seconds = self.minutes, self.seconds
        if first == day:
            k = bisect_left(minutes, second - seconds[-1])
            if k < len(minutes):
                minute = minutes[k]
                if minute >= second - seconds[0]:
                    return local - second + minute + seconds[0], steps + 1
                return local - second + minute + seconds[bisect_left(seconds, second - minute)], steps + 1
            first, steps = self._day(day + 1, steps + 1)
        if first is None:
            return None, steps
        return first * DAY_S + minutes[0] + seconds[0], steps

    def _day(self, day: int, steps: int) -> tuple[int | None, int]:
        """Return the first matching day at or after the given one, numbered from 1970; one step per month."""
        if self.days is None:
            return (day, steps) if day * DAY_S < END_EPOCH_S else (None, steps)
        if day * DAY_S >= END_EPOCH_S:
            return None, steps
        at = date.fromordinal(day + EPOCH_ORDINAL)
        year, month = at.year, at.month
        # Most searches end in the month they begin in: check that month first, without the loop.
        if self.months >> month & 1 and not self.years:
            left = self.days[months(year)[month - 1][1]] >> at.day
            if left:
                return day + (left & -left).bit_length() - 1, steps + 1
        return self._month(year, month, at.day, steps)

    def _month(self, year: int, month: int, passed: int, steps: int) -> tuple[int | None, int]:
        """Return the first matching day at or after a date, month by month."""
        assert self.days is not None
        for coming in range(year, min(year + SEARCH_YEARS, LAST_YEAR + 1)):
            if self.years and not self.years >> max(coming - FIRST_YEAR, 0) & (coming >= FIRST_YEAR):
                month, passed, steps = 1, 1, steps + 1
                continue
            for number, (begin, form) in enumerate(months(coming)[month - 1 :], month):
                steps += 1
                if self.months >> number & 1:
                    left = self.days[form] >> passed
                    if left:
                        return begin + passed - 1 + (left & -left).bit_length() - 1, steps
                passed = 1
            month = 1
        return None, steps


@lru_cache(maxsize=512)
def months(year: int) -> tuple[tuple[int, int], ...]:
    """Return for each month of a year its first day, numbered from 1970, and its shape."""
    begins = [date(year, month, 1).toordinal() for month in range(1, 13)] + [date(year + 1, 1, 1).toordinal()]
    return tuple((begin - EPOCH_ORDINAL, shape(begin % 7, after - begin)) for begin, after in pairwise(begins))


@lru_cache(maxsize=1024)
def minutes_of_day(hours: int, minutes: int) -> tuple[int, ...]:
    """Return every matching minute of a day, in seconds from midnight. Cached: most expressions use the same few."""
    return tuple(
        hour * 3600 + minute * 60
        for hour in range(24)
        if hours >> hour & 1
        for minute in range(60)
        if minutes >> minute & 1
    )


@lru_cache(maxsize=1024)
def bits(mask: int) -> tuple[int, ...]:
    """Return the positions of the bits that are set."""
    return tuple(k for k in range(mask.bit_length()) if mask >> k & 1)
