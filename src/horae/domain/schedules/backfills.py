"""Backfills: past fires of a schedule, requested as a range and inserted in portions.

1. A range ends at the job's own cursor: later fires belong to the schedule. The fires are those of the schedule as it
   is now, with its calendars and overrides.
2. The mode says which of them are run. Only mode `all`, a re-run, repeats fires that succeeded; it gives them
   idempotency keys of their own.
3. The undecided part of a range lies between `cursor` and `upper`. Oldest first moves `cursor` up, newest first moves
   `upper` down.
4. A rate bounds how many instances are created in a second.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil, isfinite
from typing import Final
from uuid import UUID

import msgspec
from msgspec.structs import replace

from horae.domain.errors import CountReached, Invalid
from horae.domain.schedules import FireVerdict, Schedule, expected, fires
from horae.domain.schedules.verdicts import calendar_spans

DEFAULT_CAP: Final = 10_000
"""Fires of a backfill that names no cap."""
MOST: Final = 1_000_000
"""The highest cap."""
MAX_RUNNING: Final = 100
"""Backfills of one tenant that run at the same time."""
LONGEST_RANGE: Final = timedelta(days=3660)
"""Ten years: with calendars every day of the range is checked."""

MAX_WAITING: Final = 1000
"""Live instances of a backfill from which on no more are created."""
MIN_RATE_PER_S: Final = 0.01
MAX_RATE_PER_S: Final = 10_000.0
RATE_WINDOW_S: Final = 2.0
"""Seconds of an unused rate that may be made up for at once."""
RATE_ROUNDING_SHARE: Final = 1e-6
"""Times have microseconds: without it one call of a slow rate would wait for another round."""
RATE_WAITING_S: Final = 10.0
"""A backfill with a rate creates no more instances while as many wait as its rate allows in this time."""


class BackfillStatus(StrEnum):
    """How far a backfill has come. DONE: all its fires are decided, and instances of it may still be live."""

    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    DONE = "DONE"
    CANCELLED = "CANCELLED"


class BackfillMode(StrEnum):
    """Which fires of its range a backfill runs. Fires with a live instance are left alone, except by `all`."""

    UNSUCCESSFUL = "unsuccessful"
    """Every fire that has not succeeded."""
    MISSING = "missing"
    """Fires that have neither succeeded nor died."""
    FAILED = "failed"
    """Fires that died and have not succeeded."""
    ALL = "all"
    """Every fire, with new idempotency keys."""


class Backfill(msgspec.Struct, frozen=True, kw_only=True):
    """A backfill from `since` to `until` (excluded).

    `inserted` counts the created instances, `already` the decided fires that the mode leaves out. `decided_from` is set
    for newest first: every fire from it on is decided. `needed` is how many instances were expected at the start; None
    where there was too much history to count. `paced_to` is the time up to which the rate is used.
    """

    shard: int
    id: UUID
    tenant_id: UUID
    job_id: UUID
    since: datetime
    until: datetime
    cursor: datetime
    cap: int
    planned: int
    created_at: datetime
    created_by: str
    mode: BackfillMode = BackfillMode.UNSUCCESSFUL
    status: BackfillStatus = BackfillStatus.RUNNING
    inserted: int = 0
    already: int = 0
    needed: int | None = None
    decided_from: datetime | None = None
    rate: float | None = None
    paced_to: datetime | None = None
    paused_at: datetime | None = None
    paused_s: float = 0.0
    group_id: UUID | None = None
    ended_at: datetime | None = None

    @property
    def rerun(self) -> bool:
        """Whether its instances have idempotency keys of their own."""
        return self.mode == BackfillMode.ALL

    @property
    def newest_first(self) -> bool:
        """Whether it begins at the end of its range."""
        return self.decided_from is not None

    @property
    def upper(self) -> datetime:
        """Where its undecided fires end."""
        return self.until if self.decided_from is None else self.decided_from


class BackfillPortion(msgspec.Struct, frozen=True):
    """The fires that a backfill decides next, and the undecided part of the range that is left then."""

    times: list[datetime]
    cursor: datetime
    upper: datetime


def check(since: datetime, until: datetime, cap: int) -> None:
    """Refuse an empty or too long range, and a cap out of bounds."""
    if since.tzinfo is None or until.tzinfo is None:
        raise Invalid("a time needs its offset, for example 2026-11-15T09:00:00+08:00")
    if since >= until:
        raise Invalid("the range ends before it begins, or reaches no further than where the job's schedule stands")
    if until - since > LONGEST_RANGE:
        raise Invalid(f"a range is at most {LONGEST_RANGE.days} days long")
    if not 1 <= cap <= MOST:
        raise Invalid(f"a cap is 1 to {MOST} fires, not {cap}")


def check_rate(rate: float | None) -> None:
    """Refuse a rate out of bounds."""
    if rate is not None and not (isfinite(rate) and MIN_RATE_PER_S <= rate <= MAX_RATE_PER_S):
        raise Invalid(f"a rate is {MIN_RATE_PER_S:g} to {MAX_RATE_PER_S:g} fires a second, not {rate:g}")


def max_waiting(backfill: Backfill) -> int:
    """Return how many of its instances may be live while more are created."""
    if backfill.rate is None:
        return MAX_WAITING
    return min(MAX_WAITING, max(1, ceil(backfill.rate * RATE_WAITING_S)))


def allowed_by_rate(backfill: Backfill, now: datetime) -> int:
    """Return how many instances its rate allows now; more than ever wait where it has no rate."""
    if backfill.rate is None:
        return MAX_WAITING
    return int((now - rate_start(backfill, now)).total_seconds() * backfill.rate + RATE_ROUNDING_SHARE)


def rate_start(backfill: Backfill, now: datetime) -> datetime:
    """Return since when its rate is unused. What was unused for longer than a short time is lost."""
    assert backfill.rate is not None
    window = timedelta(seconds=max(RATE_WINDOW_S, 1 / backfill.rate))
    return max(backfill.paced_to or backfill.created_at, now - window)


def paced_until(backfill: Backfill, now: datetime, inserted: int) -> datetime | None:
    """Return the time up to which its rate is used after so many more instances."""
    if backfill.rate is None:
        return None
    return rate_start(backfill, now) + timedelta(seconds=inserted / backfill.rate)


def check_running(there_are: int) -> None:
    """Refuse one more backfill where the tenant has `MAX_RUNNING`."""
    if there_are >= MAX_RUNNING:
        raise CountReached(
            f"{there_are} backfills of the tenant are under way, and {MAX_RUNNING} may be: wait, or cancel some",
            kind="backfills",
            most=MAX_RUNNING,
        )


def count_planned(schedule: Schedule, since: datetime, until: datetime, cap: int) -> int:
    """Count the fires of a range without visiting them; refused when there are more than the cap."""
    open_ = (part for part in calendar_spans(_without_max_count(schedule), since, until) if part.reason is None)
    many = sum(expected.count_between(schedule.trigger, part.since, part.until) for part in open_)
    if many > cap:
        raise Invalid(f"there are {many} fires in this range, more than the cap of {cap}")
    return many


def next_portion(schedule: Schedule, backfill: Backfill, many: int) -> BackfillPortion:
    """Return up to `many` undecided fires: the first ones, or the last ones for newest first."""
    schedule = _without_max_count(schedule)
    return _last_fires(schedule, backfill, many) if backfill.newest_first else _first_fires(schedule, backfill, many)


def _first_fires(schedule: Schedule, backfill: Backfill, many: int) -> BackfillPortion:
    found: list[datetime] = []
    for verdict in fires(schedule, backfill.cursor, backfill.upper):
        if len(found) == many:
            return BackfillPortion(found, verdict.fire_time, backfill.upper)
        if isinstance(verdict, FireVerdict):
            found.append(verdict.fire_time)
    return BackfillPortion(found, backfill.upper, backfill.upper)


def _last_fires(schedule: Schedule, backfill: Backfill, many: int) -> BackfillPortion:
    """Search where the last fires begin, and visit only those. Days that the calendars exclude yield fewer.

    Two fires are at least a second apart, so a second of the search holds no more than one.
    """
    start = expected.start_of_newest(schedule.trigger, backfill.cursor, backfill.upper, many)
    verdicts = fires(schedule, start, backfill.upper)
    found = [verdict.fire_time for verdict in verdicts if isinstance(verdict, FireVerdict)]
    return BackfillPortion(found[::-1], backfill.cursor, start)


def _without_max_count(schedule: Schedule) -> Schedule:
    """Return the schedule without `max_count`: a backfill does not count earlier fires."""
    return replace(schedule, policies=replace(schedule.policies, max_count=None))
