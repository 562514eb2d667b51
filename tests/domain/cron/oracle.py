"""A second opinion that knows nothing of the engine: expand the fields into sets, then walk the clock.

Slow and plain on purpose. It reads the expression with code of its own, asks the standard `ZoneInfo`
what the clock on the wall shows at every minute around a change (every second where offsets are odd), and
collects what matches. A time the clock never showed is imaginary; one it showed twice is ambiguous.
"""

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from importlib import resources
from zoneinfo import ZoneInfo

MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
SUNDAY_FIRST = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
EPOCH = datetime(1970, 1, 1)
HOUR, DAY = 3_600, 86_400


def plain_zone(name):
    """The standard library's own reading of the pinned file."""
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


# --- fields -------------------------------------------------------------------------------------------------


def numbers(text, low, high, wraps=False, star_low=None):
    """The set of numbers that `*`, `a`, `a-b`, `a,b` and steps stand for."""
    star_low = low if star_low is None else star_low
    found = set()
    for item in text.split(","):
        body, _, step = item.partition("/")
        step = int(step or 1)
        if body == "*":
            found |= set(range(star_low, high + 1, step))
        elif "-" in body:
            a, b = map(int, body.split("-"))
            if a > b and wraps:
                ring = [*range(a, high + 1), *range(star_low, b + 1)]
                found |= set(ring[::step])
            else:
                found |= set(range(a, b + 1, step))
        elif "/" in item:
            found |= set(range(int(body), high + 1, step))
        else:
            found.add(int(body))
    return found


def month_numbers(text, wraps):
    for k, name in enumerate(MONTHS, 1):
        text = text.replace(name, str(k))
    return numbers(text, 1, 12, wraps)


def last_of(day):
    return calendar.monthrange(day.year, day.month)[1]


def nearest_workday(year, month, number):
    """The Monday to Friday closest to a day of a month, found by looking at its neighbours."""
    length = calendar.monthrange(year, month)[1]
    if not 1 <= number <= length:
        return None
    for away in (0, -1, 1, -2, 2):
        if 1 <= number + away <= length and date(year, month, number + away).weekday() < 5:
            return number + away
    raise AssertionError


def day_matches(item, day, wraps):
    length = last_of(day)
    if item in {"*", "?"}:
        return True
    if item == "L":
        return day.day == length
    if found := re.fullmatch(r"L(?:-(\d+))?(W?)", item):
        wanted = length - int(found[1] or 0)
        return day.day == (nearest_workday(day.year, day.month, wanted) if found[2] else wanted)
    if found := re.fullmatch(r"(\d+)W", item):
        return day.day == nearest_workday(day.year, day.month, int(found[1]))
    return day.day in numbers(item, 1, 31, wraps)


def weekday_matches(item, day, dialect):
    """Weekdays as the dialect numbers them, compared with the date's own."""
    quartz = dialect.startswith("quartz")
    ours = (day.weekday() + 1) % 7  # Sunday 0
    if item in {"*", "?"}:
        return True
    for k, name in enumerate(SUNDAY_FIRST):
        number = k + 1 if quartz else (7 if dialect == "spring6" and k == 0 else k)
        item = item.replace(name, str(number))

    def same(number):
        return (number - 1 if quartz else number % 7) == ours

    if item == "L":
        return same(7)
    if found := re.fullmatch(r"(\d)L", item):
        return same(int(found[1])) and day.day + 7 > last_of(day)
    if found := re.fullmatch(r"(\d)#(\d)", item):
        return same(int(found[1])) and (day.day - 1) // 7 + 1 == int(found[2])
    if quartz:
        return any(map(same, numbers(item, 1, 7, wraps=True)))
    return any(map(same, numbers(item, 0, 7, star_low=1 if dialect == "spring6" else 0)))


@dataclass
class Plain:
    """An expression as sets, with the date rule as a question asked for each date."""

    dialect: str
    seconds: set
    minutes: set
    hours: set
    day: str
    months: set
    weekday: str
    years: set | None
    elapsed: bool

    @classmethod
    def read(cls, text, dialect):
        words = text.split()
        if dialect == "unix5":
            words = ["0", *words]
        wraps = dialect.startswith("quartz")
        hours = numbers(words[2], 0, 23, wraps)
        rhythm = re.fullmatch(r"\*|(\*|\d+)/\d+", words[2]) is not None
        return cls(
            dialect,
            numbers(words[0], 0, 59, wraps),
            numbers(words[1], 0, 59, wraps),
            hours,
            words[3],
            month_numbers(words[4], wraps),
            words[5],
            numbers(words[6], 1970, 2099) if len(words) > 6 else None,
            rhythm or len(hours) == 24,
        )

    def on(self, day):
        if day.month not in self.months or (self.years is not None and day.year not in self.years):
            return False
        wraps = self.dialect.startswith("quartz")
        by_day = any(day_matches(item, day, wraps) for item in self.day.split(","))
        by_weekday = any(weekday_matches(item, day, self.dialect) for item in self.weekday.split(","))
        if self.dialect == "unix5" and self.day[0] != "*" and self.weekday[0] != "*":
            return by_day or by_weekday
        return by_day and by_weekday


# --- the clock on the wall ----------------------------------------------------------------------------------


class Wall:
    """What the clock showed from `since` to `until` (UTC seconds), looked at every `step` seconds."""

    def __init__(self, zone, since, until, step=60):
        self.since, self.until, self.step = since, until, step
        self.shown = {}  # local second -> the UTC seconds at which it was shown
        self.jumps = []  # (first local second jumped over, first one shown after it, the UTC second of that)
        before = None
        for second in range(since, until, step):
            there = datetime.fromtimestamp(second, zone)
            local = second + there.utcoffset() // timedelta(seconds=1)
            self.shown.setdefault(local, []).append(second)
            if before is not None and local > before + step:
                self.jumps.append((before + step, local, second))
            before = local
        self.first, self.last = min(self.shown), max(self.shown)

    def expected(self, plain, gap, overlap, since, until):
        """Every fire from `since` to `until`, sorted. Both must keep away from the rim of what was seen."""
        fires = set()
        # Local time runs at most so far ahead of or behind UTC in this window.
        ahead, behind = self.last - self.until, self.first - self.since
        low, high = since + min(ahead, behind) - 2 * HOUR, until + max(ahead, behind) + 2 * HOUR
        for number in range(low // DAY, high // DAY + 1):
            if not plain.on((EPOCH + timedelta(days=number)).date()):
                continue
            midnight = number * DAY
            for hour in range(max(0, (low - midnight) // 3600), min(24, (high - midnight) // 3600 + 1)):
                if hour not in plain.hours:
                    continue
                for minute in range(60):
                    if minute in plain.minutes:
                        at = midnight + hour * 3600 + minute * 60
                        for second in plain.seconds:
                            self._collect(at, second, plain.elapsed, gap, overlap, fires)
        return sorted(fire for fire in fires if since <= fire < until)

    def _collect(self, minute, second, elapsed, gap, overlap, fires):
        rest = second % self.step
        seen = self.shown.get(minute + second - rest)
        if seen is None:
            for jumped, shown, at in self.jumps:
                if jumped <= minute + second < shown and gap == "fire_after" and not elapsed:
                    fires.add(at)
        elif elapsed or overlap == "both":
            fires.update(at + rest for at in seen)
        else:
            fires.add((min(seen) if overlap == "first" else max(seen)) + rest)


def utc(second):
    return datetime.fromtimestamp(second, UTC)
