"""When a job fires. The next fire follows from the last scheduled one, never from now."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Final

import msgspec

from horae.domain.cron import Cron, Dialect, DstPolicy, Gap, Overlap, parse
from horae.domain.errors import InvalidSchedule
from horae.domain.zones import tzdata_version, zone

SHORTEST_INTERVAL: Final = 1.0


class Kind(StrEnum):
    """What triggers call themselves."""

    CRON = "cron"
    INTERVAL = "interval"
    ONCE = "once"
    DELAY = "delay"
    KEYED = "keyed"
    ROLLING = "rolling"
    MANUAL = "manual"


class CronTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag=Kind.CRON.value):
    """A cron expression, with its dialect and zone made explicit when the job was created.

    `tzdata` is the release of the zone rules it was planned by.
    """

    expression: str
    dialect: Dialect
    zone: str = "UTC"
    dst_gap: Gap = Gap.FIRE_AFTER
    dst_overlap: Overlap = Overlap.FIRST
    salt: str = ""
    tzdata: str = ""

    def compiled(self) -> Cron:
        """The expression, ready to be asked."""
        return _compiled(self.expression, self.dialect, self.salt)


class IntervalTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag=Kind.INTERVAL.value):
    """Every so many seconds, counted from an anchor so that restarts and edits do not shift it."""

    every: float
    anchor: datetime

    def __post_init__(self) -> None:
        if self.every < SHORTEST_INTERVAL:
            raise InvalidSchedule(f"an interval is at least {SHORTEST_INTERVAL:g} second, not {self.every:g}")


class OnceTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag=Kind.ONCE.value):
    """At one time, which may be moved until it has fired."""

    at: datetime


class DelayTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag=Kind.DELAY.value):
    """So many seconds after it was asked for."""

    seconds: float

    def __post_init__(self) -> None:
        if self.seconds < 0:
            raise InvalidSchedule("a delay is zero seconds or more")


class KeyedTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag=Kind.KEYED.value):
    """A type of tasks: each business key has its own time."""


class RollingTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag=Kind.ROLLING.value, omit_defaults=True):
    """A set of subjects, each refreshed at most once in a window. Seconds, all of them.

    Every `every` seconds, counted from the anchor, a tick takes those that were not refreshed within the window, the
    oldest first, and spreads their calls over its `budget` (the whole tick where it is left out). The set is covered
    when `share` of the subjects succeeded within `fresh` (the window and two ticks where it is left out).
    """

    window: float
    every: float
    anchor: datetime
    budget: float | None = None
    share: float = 0.999
    fresh: float | None = None

    def __post_init__(self) -> None:
        if self.every < SHORTEST_INTERVAL or self.window < self.every:
            raise InvalidSchedule("a tick is at least a second long, and the window at least a tick")
        if self.budget is not None and not 0 < self.budget <= self.every:
            raise InvalidSchedule("a tick's budget lies above 0 and at most at its length")
        if not 0 < self.share <= 1:
            raise InvalidSchedule("the share of fresh subjects lies above 0 and at most at 1")
        if self.fresh is not None and self.fresh < self.window:
            raise InvalidSchedule("subjects cannot be fresher than their window")

    def tick(self, now: datetime) -> datetime | None:
        """The tick we are in; None before the first, and when its budget is over."""
        steps = (now - self.anchor) // timedelta(seconds=self.every)
        at = self.anchor + steps * timedelta(seconds=self.every)
        return at if steps >= 0 and now < self.end(at) else None

    def end(self, tick: datetime) -> datetime:
        """Until when a tick takes subjects."""
        return tick + timedelta(seconds=self.budget or self.every)

    def aged(self, tick: datetime) -> datetime:
        """What ended no later than this may be refreshed by a tick."""
        return tick - timedelta(seconds=self.window)

    @property
    def fresh_seconds(self) -> float:
        """How long after its last success a subject counts as fresh."""
        return self.fresh if self.fresh is not None else self.window + 2 * self.every


class ManualTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag=Kind.MANUAL.value):
    """Only when someone asks."""


_policy = lru_cache(DstPolicy)


@lru_cache(maxsize=65_536)
def _compiled(expression: str, dialect: Dialect, salt: str) -> Cron:
    return parse(expression, dialect, salt=salt)


Trigger = CronTrigger | IntervalTrigger | OnceTrigger | DelayTrigger | KeyedTrigger | RollingTrigger | ManualTrigger


def cron(expression: str, *, dialect: Dialect | None = None, zone_name: str = "UTC", salt: str = "") -> CronTrigger:
    """A cron trigger with nothing left to guess: the dialect is decided here and stored."""
    zone(zone_name)
    salt = salt if "H" in expression.upper() else ""  # only a spread schedule needs to remember whose it is
    found = parse(expression, dialect, salt=salt).dialect
    return CronTrigger(expression, found, zone_name, salt=salt, tzdata=tzdata_version())


def next_fire(trigger: Trigger, after: datetime) -> datetime | None:
    """The first fire strictly after a time; None where no cursor is needed or nothing is left."""
    match trigger:
        case CronTrigger():
            return trigger.compiled().next(after, zone(trigger.zone), _policy(trigger.dst_gap, trigger.dst_overlap))
        case IntervalTrigger(every, anchor):
            steps = (after - anchor) // timedelta(seconds=every) + 1
            return anchor + max(steps, 0) * timedelta(seconds=every)
        case _:
            return None


def single_fire(trigger: Trigger, asked_at: datetime) -> datetime | None:
    """The one time of a once or delay job."""
    match trigger:
        case OnceTrigger(at):
            return at.astimezone(UTC)
        case DelayTrigger(seconds):
            return asked_at + timedelta(seconds=seconds)
        case _:
            return None
