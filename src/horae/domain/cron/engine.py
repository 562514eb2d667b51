"""The compiled expression: when it fires next, in a bounded number of counted steps."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from horae.domain.cron.days import shape
from horae.domain.cron.dialects import Dialect
from horae.domain.cron.fields import Part
from horae.domain.dst import DEFAULT, ELAPSED, DstPolicy
from horae.domain.timeline import DAY, END, EPOCH, MARGIN, START, line

SECOND = timedelta(seconds=1)
EPOCH_ORDINAL = EPOCH.toordinal()
FIRST_YEAR, LAST_YEAR = 1970, 2199

MAX_STEPS = 4_000
# A 29 February on a given weekday comes again within 40 years, also across a century that is not a leap year.
SEARCH_YEARS = 100


@dataclass(frozen=True, slots=True)
class Fields:
    """The parsed fields, as written; the sentence and the forecast are made from them."""

    second: Part
    minute: Part
    hour: Part
    day: Part
    month: Part
    weekday: Part
    year: Part


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression, compiled. Made by `parse`; two with the same text, dialect and salt are equal.

    `elapsed` schedules follow the clock as it really runs, whatever the DST policy: their hour field is a
    rhythm (`*`, `*/2`, `H/3`) or holds all 24 hours. All others name their hours, and the policy decides.
    """

    text: str
    dialect: Dialect
    fields: Fields
    elapsed: bool
    either: bool  # one of the two day fields is enough
    seconds: tuple[int, ...]
    minutes: tuple[int, ...]  # of the day, in seconds from local midnight
    months: int
    days: tuple[int, ...] | None  # per shape of month; None when every day of every year matches
    years: int  # bit 0 is 1970; 0 when every year matches

    def next(self, after: datetime, zone: ZoneInfo, policy: DstPolicy = DEFAULT) -> datetime | None:
        """The first fire strictly after `after`, in UTC; None when there will never be one."""
        past = after - EPOCH
        found, _ = self.find(past.days * DAY + past.seconds + 1, zone, policy)
        return None if found is None else datetime.fromtimestamp(found, UTC)

    def fires(
        self, since: datetime, until: datetime, zone: ZoneInfo, policy: DstPolicy = DEFAULT
    ) -> Iterator[datetime]:
        """Every fire from `since` (included) to `until` (excluded), in UTC, strictly increasing."""
        stop = -((EPOCH - until) // SECOND)
        found, _ = self.find(-((EPOCH - since) // SECOND), zone, policy)
        while found is not None and found < stop:
            yield datetime.fromtimestamp(found, UTC)
            found, _ = self.find(found + 1, zone, policy)

    def find(self, second: int, zone: ZoneInfo, policy: DstPolicy) -> tuple[int | None, int]:
        """The first fire at or after a second since 1970, and the steps the search took."""
        if self.elapsed:
            policy = ELAPSED
        starts, spans, until = line(zone, policy)
        while second >= until:
            if until >= END - MARGIN:
                return None, 1
            starts, spans, until = line(zone, policy, beyond=until)
        k = bisect_right(starts, second) - 1
        if k < 0:
            return self.find(START, zone, policy)
        start, offset, low, high, hole = spans[k]
        local = second + offset
        # A time may have been jumped over, and its fire stands at this very instant.
        if second == start and hole is not None:
            found, steps = self._seek(hole, 1)
            if found is not None and found < low:
                return start, steps
        if local < low:  # noqa: PLR1730 - max() takes longer than the rest of this line
            local = low
        found, steps = self._seek(local, 1)
        if found is not None and found < high:
            return found - offset, steps
        return self._beyond(k, local, found, steps, zone, policy)

    def on(self, day: int) -> bool:
        """Whether any time of a local day matches; days are counted from 1 January 1970."""
        return self._day(day, 0)[0] == day

    def jumped(self, hole: int, low: int) -> bool:
        """Whether clocks that jump from local time `hole` to `low` owe a fire that `low` itself does not bring."""
        found, _ = self._seek(hole, 0)
        return found is not None and found < low and self._seek(low, 0)[0] != low

    def _beyond(
        self, k: int, sought: int, found: int | None, steps: int, zone: ZoneInfo, policy: DstPolicy
    ) -> tuple[int | None, int]:
        """The search goes on behind span k: the first match from the local time `sought` on was `found`."""
        _, spans, until = line(zone, policy)
        while True:
            k += 1
            steps += 1
            if k == len(spans):
                if found is None or until >= END - MARGIN:
                    return None, steps
                # What was read of the zone ends here: read on, and the last span has become longer.
                _, spans, until = line(zone, policy, beyond=until)
                k -= 1
                if found < spans[k].high:
                    return found - spans[k].offset, steps
                continue
            start, offset, low, high, hole = spans[k]
            begin = low if hole is None else hole
            # Clocks that went back show times again which the last look had already passed.
            if begin < sought or (found is not None and begin > found):
                sought = begin
                found, steps = self._seek(begin, steps)
            elif found is None:
                return None, steps
            if found is not None and found < high:
                return (found - offset if found >= low else start), steps

    def _seek(self, local: int, steps: int) -> tuple[int | None, int]:
        """The first matching local time at or after the given one, as if clocks never changed."""
        day, second = divmod(local, DAY)
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
        return first * DAY + minutes[0] + seconds[0], steps

    def _day(self, day: int, steps: int) -> tuple[int | None, int]:
        """The first matching day at or after the given one, counted from 1970; one step per month."""
        if self.days is None:
            return (day, steps) if day * DAY < END else (None, steps)
        if day * DAY >= END:
            return None, steps
        at = date.fromordinal(day + EPOCH_ORDINAL)
        year, month = at.year, at.month
        # Most searches end in the month they begin in: look there first, without ceremony.
        if self.months >> month & 1 and not self.years:
            left = self.days[months(year)[month - 1][1]] >> at.day
            if left:
                return day + (left & -left).bit_length() - 1, steps + 1
        return self._month(year, month, at.day, steps)

    def _month(self, year: int, month: int, passed: int, steps: int) -> tuple[int | None, int]:
        """The first matching day at or after a date, month by month."""
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
    """For each month of a year its first day, counted from 1970, and its shape."""
    begins = [date(year, month, 1).toordinal() for month in range(1, 13)] + [date(year + 1, 1, 1).toordinal()]
    return tuple((begin - EPOCH_ORDINAL, shape(begin % 7, after - begin)) for begin, after in pairwise(begins))


@lru_cache(maxsize=1024)
def minutes_of_day(hours: int, minutes: int) -> tuple[int, ...]:
    """Every matching minute of a day, in seconds from midnight. Shared: most expressions use the same few."""
    return tuple(
        hour * 3600 + minute * 60
        for hour in range(24)
        if hours >> hour & 1
        for minute in range(60)
        if minutes >> minute & 1
    )


@lru_cache(maxsize=1024)
def bits(mask: int) -> tuple[int, ...]:
    """The numbers of the bits that are set."""
    return tuple(k for k in range(mask.bit_length()) if mask >> k & 1)
