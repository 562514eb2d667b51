"""Triggers: when a job fires. The next fire follows from the last scheduled one, never from now."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Final

import msgspec

from horae.domain.cron import CronExpression, Dialect, DstPolicy, Gap, Overlap, parse
from horae.domain.errors import InvalidSchedule
from horae.domain.schedules.calendar_windows import CalendarWindow
from horae.domain.schedules.cron_ticks import last_fire
from horae.domain.zones.zones import tzdata_version, zone

MIN_INTERVAL_S: Final = 1
MAX_INTERVAL_S: Final = 366 * 86_400
"""Seconds between two fires, and of each time of a rolling set, in new definitions."""
FRESH_TICKS: Final = 3
"""Ticks of a cron schedule in which a subject must be refreshed after its window: the current one and two before it."""
SECOND: Final = timedelta(seconds=1)


class TriggerKind(StrEnum):
    """The kinds of triggers."""

    CRON = "cron"
    INTERVAL = "interval"
    ONCE = "once"
    DELAY = "delay"
    KEYED = "keyed"
    ROLLING = "rolling"
    MANUAL = "manual"


class CronTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag=TriggerKind.CRON.value):
    """A cron expression, with the dialect and zone that were fixed when the job was created.

    `tzdata` is the release of the zone rules that it was planned with.
    """

    expression: str
    dialect: Dialect
    zone: str = "UTC"
    dst_gap: Gap = Gap.FIRE_AFTER
    dst_overlap: Overlap = Overlap.FIRST
    salt: str = ""
    tzdata: str = ""

    def compiled(self) -> CronExpression:
        """Return the compiled expression."""
        return _compiled(self.expression, self.dialect, self.salt)


class IntervalTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag=TriggerKind.INTERVAL.value):
    """Every `every` seconds, counted from an anchor, so that restarts and edits do not shift it."""

    every: float
    anchor: datetime

    def __post_init__(self) -> None:
        if self.every < MIN_INTERVAL_S:
            raise InvalidSchedule(f"an interval is at least {MIN_INTERVAL_S:g} second, not {self.every:g}")


class OnceTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag=TriggerKind.ONCE.value):
    """At one time, which may be changed until it has fired."""

    at: datetime


class DelayTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag=TriggerKind.DELAY.value):
    """A number of seconds after the request."""

    seconds: float

    def __post_init__(self) -> None:
        if self.seconds < 0:
            raise InvalidSchedule("a delay is zero seconds or more")


class KeyedTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag=TriggerKind.KEYED.value):
    """A type of tasks: each business key has its own time."""


class RollingTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag=TriggerKind.ROLLING.value, omit_defaults=True):
    """A set of subjects, each refreshed at most once in a window. Numbers are seconds.

    Every `every` seconds, counted from the anchor, or at each fire of a cron schedule since the anchor, a tick takes
    the subjects that were not refreshed within the window, oldest first. It spreads their calls over its `budget` (by
    default the whole tick). The set is covered when `share` of the subjects succeeded within `fresh` (by default the
    window and two ticks).
    """

    window: float | CalendarWindow
    every: float | CronTrigger
    anchor: datetime
    budget: float | None = None
    share: float = 0.999
    fresh: float | None = None

    def __post_init__(self) -> None:
        shortest, longest = _lengths_of(self.window)
        tick = MIN_INTERVAL_S if isinstance(self.every, CronTrigger) else self.every
        if tick < MIN_INTERVAL_S or shortest < tick:
            raise InvalidSchedule("a tick is at least a second long, and the window at least a tick")
        most = MAX_INTERVAL_S if isinstance(self.every, CronTrigger) else self.every
        if self.budget is not None and not 0 < self.budget <= most:
            raise InvalidSchedule("a tick's budget lies above 0 and at most at its length")
        if not 0 < self.share <= 1:
            raise InvalidSchedule("the share of fresh subjects lies above 0 and at most at 1")
        if self.fresh is not None and self.fresh < longest:
            raise InvalidSchedule("subjects cannot be fresher than their window")

    def tick(self, now: datetime) -> datetime | None:
        """Return the current tick; None before the first one, and when the budget of the tick is over."""
        at = self._last_tick(now)
        return at if at is not None and at >= self.anchor and now < self.end(at) else None

    def end(self, tick: datetime) -> datetime:
        """Return until when a tick takes subjects."""
        if not isinstance(self.every, CronTrigger):
            return tick + timedelta(seconds=self.budget or self.every)
        longest = tick + timedelta(seconds=self.budget or MAX_INTERVAL_S)
        return min(next_fire(self.every, tick) or longest, longest)

    def refreshed_before(self, tick: datetime) -> datetime:
        """Return the time up to which a subject's last refresh must have ended so that a tick may refresh it."""
        if isinstance(self.window, CalendarWindow):
            return self.window.before(tick)
        return tick - timedelta(seconds=self.window)

    def due_again(self, ended: datetime) -> datetime:
        """Return from when on a tick may refresh a subject again whose last refresh ended then."""
        if isinstance(self.window, CalendarWindow):
            return self.window.after(ended)
        return ended + timedelta(seconds=self.window)

    def fresh_since(self, now: datetime) -> datetime:
        """Return the time since which a subject must have succeeded to count as fresh."""
        if self.fresh is not None:
            return now - timedelta(seconds=self.fresh)
        if not isinstance(self.every, CronTrigger):
            return self.refreshed_before(now - timedelta(seconds=2 * self.every))
        tick = now
        for _ in range(FRESH_TICKS):  # the current one, and two before it
            tick = (self._last_tick(tick) or tick) - SECOND
        return self.refreshed_before(tick)

    def _last_tick(self, now: datetime) -> datetime | None:
        """Return the last tick up to a time, also one before the anchor."""
        if isinstance(self.every, CronTrigger):
            policy = _policy(self.every.dst_gap, self.every.dst_overlap)
            return last_fire(self.every.compiled(), now, zone(self.every.zone), policy)
        return now - (now - self.anchor) % timedelta(seconds=self.every)


class ManualTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag=TriggerKind.MANUAL.value):
    """Only on request."""


_policy = lru_cache(DstPolicy)


def _lengths_of(window: float | CalendarWindow) -> tuple[float, float]:
    """Return the least and the greatest length of a window, in seconds."""
    return (window.shortest_s, window.longest_s) if isinstance(window, CalendarWindow) else (window, window)


@lru_cache(maxsize=65_536)
def _compiled(expression: str, dialect: Dialect, salt: str) -> CronExpression:
    return parse(expression, dialect, salt=salt)


Trigger = CronTrigger | IntervalTrigger | OnceTrigger | DelayTrigger | KeyedTrigger | RollingTrigger | ManualTrigger


def cron(expression: str, *, dialect: Dialect | None = None, zone_name: str = "UTC", salt: str = "") -> CronTrigger:
    """Return a cron trigger with nothing left to guess: the dialect is decided here and stored."""
    zone(zone_name)
    salt = salt if "H" in expression.upper() else ""  # only an expression with H depends on its job
    found = parse(expression, dialect, salt=salt).dialect
    return CronTrigger(expression, found, zone_name, salt=salt, tzdata=tzdata_version())


def next_fire(trigger: Trigger, after: datetime) -> datetime | None:
    """Return the first fire strictly after a time; None for triggers without a cursor, or when no fire is left."""
    match trigger:
        case CronTrigger():
            return trigger.compiled().next(after, zone(trigger.zone), _policy(trigger.dst_gap, trigger.dst_overlap))
        case IntervalTrigger(every, anchor):
            period = timedelta(seconds=every)
            return anchor + max((after - anchor) // period + 1, 0) * period
        case _:
            return None


def single_fire(trigger: Trigger, asked_at: datetime) -> datetime | None:
    """Return the one time of a once or delay job."""
    match trigger:
        case OnceTrigger(at):
            return at.astimezone(UTC)
        case DelayTrigger(seconds):
            return asked_at + timedelta(seconds=seconds)
        case _:
            return None
