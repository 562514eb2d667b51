"""One version of a schedule as its stored JSON says it, and the fires that follow from it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final
from zoneinfo import ZoneInfo

import msgspec

from horae.domain.cron import CronExpression, Dialect, DstPolicy, Gap, Overlap, parse
from horae.domain.errors import HoraeError
from horae.domain.instances.outcomes import SkipReason
from horae.domain.zones.zones import zone

TIME_RESOLUTION = timedelta(microseconds=1)
SECOND = timedelta(seconds=1)
EXCLUDE = "exclude"
"""A job with this use of a calendar does not fire on its days."""
UNREADABLE: Final[tuple[type[Exception], ...]] = (msgspec.MsgspecError, HoraeError, LookupError)
"""Errors of a schedule that this release, or its zones, cannot compute."""


class StoredCron(msgspec.Struct, frozen=True, tag_field="kind", tag="cron"):
    """A cron trigger as it is stored."""

    expression: str
    dialect: Dialect
    zone: str = "UTC"
    dst_gap: Gap = Gap.FIRE_AFTER
    dst_overlap: Overlap = Overlap.FIRST
    salt: str = ""


class StoredInterval(msgspec.Struct, frozen=True, tag_field="kind", tag="interval"):
    """An interval trigger as it is stored."""

    every: float
    anchor: datetime


class StoredMisfire(msgspec.Struct, frozen=True):
    """A misfire policy as it is stored."""

    policy: str = "once"
    max_lateness: float | None = None


class StoredSpread(msgspec.Struct, frozen=True):
    """The delays of fires, in seconds, as they are stored."""

    window: float = 0.0
    jitter: float = 0.0


class StoredCalendarUse(msgspec.Struct, frozen=True):
    """The use of a calendar as it is stored."""

    calendar: str
    mode: str = "include"


class StoredPolicies(msgspec.Struct, frozen=True):
    """The policies that affect fires, as they are stored."""

    misfire: StoredMisfire = StoredMisfire()
    overlap: str = "allow"
    spread: StoredSpread = StoredSpread()
    calendars: tuple[StoredCalendarUse, ...] = ()
    start: datetime | None = None
    end: datetime | None = None
    max_count: int | None = None


class StoredOverride(msgspec.Struct, frozen=True):
    """An override as it is stored: the fire at `at` is due at `to`, or skipped."""

    at: datetime
    to: datetime | None = None


class StoredCalendar(msgspec.Struct, frozen=True):
    """A calendar as it is stored, and since when it has these days."""

    first: date
    last: date
    weekdays: frozenset[int] = frozenset()
    added: frozenset[date] = frozenset()
    removed: frozenset[date] = frozenset()
    changed_at: datetime | None = None

    def has(self, day: date) -> bool | None:
        """Whether it has a day; None: it does not reach that far."""
        if day < self.first or day > self.last:
            return None
        return day in self.added or (day.isoweekday() in self.weekdays and day not in self.removed)


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a job's schedule. It was in force after `since`, up to `until`; None: it still is."""

    job: str
    version: int
    since: datetime
    until: datetime | None
    trigger: StoredCron | StoredInterval
    policies: StoredPolicies = StoredPolicies()
    overrides: dict[datetime, datetime | None] = {}

    def fires(self, since: datetime, until: datetime) -> Iterator[tuple[datetime, bool]]:
        """Yield the fires from `since` to `until` (excluded). False: the clocks jump over this one."""
        if not self.has_skipped_gaps:
            yield from ((at, True) for at in self._times(since, until, None))
            return
        real = set(self.times(since, until))
        yield from ((at, at in real) for at in self._times(since, until, Gap.FIRE_AFTER))

    def times(self, since: datetime, until: datetime) -> list[datetime]:
        """Return the fires from `since` to `until` (excluded) that the clocks do not jump over."""
        return list(self._times(since, until, None))

    @property
    def has_skipped_gaps(self) -> bool:
        """Whether a fire that the clocks jump over is skipped."""
        trigger = self.trigger
        return isinstance(trigger, StoredCron) and trigger.dst_gap is Gap.SKIP and not _cron_of(trigger).elapsed

    def _times(self, since: datetime, until: datetime, gap: Gap | None) -> Iterator[datetime]:
        """The fires in a range, with another rule for gaps than the stored one if `gap` is given."""
        begin = max(since, self.policies.start or since)
        end = min(until, self.policies.end or until)
        if begin >= end:
            return iter(())
        trigger = self.trigger
        if isinstance(trigger, StoredInterval):
            return _interval_fires(trigger, begin, end)
        policy = _dst_policy(gap or trigger.dst_gap, trigger.dst_overlap)
        return _cron_of(trigger).fires(begin, end, zone(trigger.zone), policy)

    def fires_like(self, other: "Rule") -> bool:
        """Whether two versions have the same schedule and differ in something else."""
        return (self.trigger, self.policies, self.overrides) == (other.trigger, other.policies, other.overrides)

    def due(self, at: datetime) -> datetime:
        """Return when a fire may be tried: at the time it was moved to, or at its own time and the spread's delay."""
        moved = self.overrides.get(at)
        if moved is not None:
            return moved
        spread = self.policies.spread
        later = timedelta(seconds=spread.window * _share(self.job)) if spread.window else timedelta(0)
        if spread.jitter:
            later += timedelta(seconds=spread.jitter * _share(f"{self.job}\0{at.timestamp():.6f}"))
        return at + later

    def decided_at(self, at: datetime) -> datetime:
        """Return when a fire is decided: at its time, or earlier if it was moved forward."""
        moved = self.overrides.get(at)
        return at if moved is None else min(at, moved)

    def is_skipped_by_request(self, at: datetime) -> bool:
        """Whether somebody asked for this fire to be skipped."""
        return at in self.overrides and self.overrides[at] is None

    def calendar_skip(self, at: datetime, calendars: Mapping[str, StoredCalendar]) -> SkipReason | None:
        """Return why the calendars let the job not fire at a time; None where they let it."""
        if not self.policies.calendars:
            return None
        day, unknown = at.astimezone(self._zone()).date(), False
        for use in self.policies.calendars:
            calendar = calendars.get(use.calendar)
            has = None if calendar is None else calendar.has(day)
            if has is None:
                unknown = True
            elif has == (use.mode == EXCLUDE):
                return SkipReason.CALENDAR
        return SkipReason.CALENDAR_UNKNOWN if unknown else None

    def calendars_changed_after(self, at: datetime, calendars: Mapping[str, StoredCalendar]) -> bool:
        """Whether a calendar was replaced after a time: what it had said until then is not known."""
        uses = (calendars.get(use.calendar) for use in self.policies.calendars)
        return any(one is None or one.changed_at is None or one.changed_at > at for one in uses)

    def _zone(self) -> ZoneInfo:
        return zone(self.trigger.zone if isinstance(self.trigger, StoredCron) else "UTC")


class StoredVersion(msgspec.Struct, frozen=True):
    """The columns of a version that say when it fires."""

    version: int
    created_at: datetime
    trigger: Any
    policies: Any
    overrides: Any


def rules_of(job: str, versions: Sequence[StoredVersion]) -> list[Rule]:
    """Return the rules of a job, oldest first. A version that does not recur has none."""
    ordered = sorted(versions, key=lambda one: one.version)
    ends = [later.created_at for later in ordered[1:]] + [None]
    found = []
    for one, until in zip(ordered, ends, strict=True):
        if (one.trigger or {}).get("kind") not in {"cron", "interval"}:
            continue
        overrides = msgspec.convert(one.overrides or [], list[StoredOverride], strict=False)
        found.append(
            Rule(
                job=job,
                version=one.version,
                since=one.created_at,
                until=until,
                trigger=msgspec.convert(one.trigger, StoredCron | StoredInterval, strict=False),
                policies=msgspec.convert(one.policies or {}, StoredPolicies, strict=False),
                overrides={o.at.astimezone(UTC): o.to and o.to.astimezone(UTC) for o in overrides},
            )
        )
    return found


def _interval_fires(trigger: StoredInterval, since: datetime, until: datetime) -> Iterator[datetime]:
    step, anchor = timedelta(seconds=trigger.every), trigger.anchor.astimezone(UTC)
    at = anchor if since <= anchor else anchor + -((anchor - since) // step) * step
    while at < until:
        yield at
        at += step


def _cron_of(trigger: StoredCron) -> CronExpression:
    return _compiled(trigger.expression, trigger.dialect, trigger.salt)


@lru_cache
def _dst_policy(gap: Gap, overlap: Overlap) -> DstPolicy:
    return DstPolicy(gap, overlap)


@lru_cache(maxsize=65_536)
def _compiled(expression: str, dialect: Dialect, salt: str) -> CronExpression:
    return parse(expression, dialect, salt=salt)


def _share(text: str) -> float:
    """Return the part of a window, from 0 to 1, that the documentation of spreads gives to a text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=6).digest()) / 2**48
