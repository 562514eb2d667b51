"""When a job fires. The next fire follows from the last scheduled one, never from now."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

import msgspec

from horae.domain.cron import Cron, Dialect, DstPolicy, Gap, Overlap, parse
from horae.domain.errors import InvalidSchedule
from horae.domain.zones import tzdata_version, zone

SHORTEST_INTERVAL: Final = 1.0


class CronTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag="cron"):
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


class IntervalTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag="interval"):
    """Every so many seconds, counted from an anchor so that restarts and edits do not shift it."""

    every: float
    anchor: datetime

    def __post_init__(self) -> None:
        if self.every < SHORTEST_INTERVAL:
            raise InvalidSchedule(f"an interval is at least {SHORTEST_INTERVAL:g} second, not {self.every:g}")


class OnceTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag="once"):
    """At one time, which may be moved until it has fired."""

    at: datetime


class DelayTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag="delay"):
    """So many seconds after it was asked for."""

    seconds: float

    def __post_init__(self) -> None:
        if self.seconds < 0:
            raise InvalidSchedule("a delay is zero seconds or more")


class KeyedTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag="keyed"):
    """A type of tasks: each business key has its own time."""


class ManualTrigger(msgspec.Struct, frozen=True, tag_field="kind", tag="manual"):
    """Only when someone asks."""


_policy = lru_cache(DstPolicy)


@lru_cache(maxsize=65_536)
def _compiled(expression: str, dialect: Dialect, salt: str) -> Cron:
    return parse(expression, dialect, salt=salt)


Trigger = CronTrigger | IntervalTrigger | OnceTrigger | DelayTrigger | KeyedTrigger | ManualTrigger


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
