"""Backfills: past fires of a schedule, requested as a range and inserted in portions.

A range ends at the job's own cursor: later fires belong to the schedule. The fires are those of the schedule as it is
now, with its calendars and overrides. A fire that succeeded before is not repeated, unless the backfill is a re-run,
whose fires have idempotency keys of their own.
"""

from datetime import datetime, timedelta
from enum import StrEnum
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


class BackfillStatus(StrEnum):
    """How far a backfill has come."""

    RUNNING = "RUNNING"
    DONE = "DONE"
    CANCELLED = "CANCELLED"


class Backfill(msgspec.Struct, frozen=True, kw_only=True):
    """A backfill from `since` to `until` (excluded).

    Every fire before `cursor` is decided: `inserted` counts the inserted ones, `already` those that succeeded before.
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
    rerun: bool
    created_at: datetime
    created_by: str
    status: BackfillStatus = BackfillStatus.RUNNING
    inserted: int = 0
    already: int = 0
    ended_at: datetime | None = None


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


def next_portion(schedule: Schedule, backfill: Backfill, many: int) -> tuple[list[datetime], datetime]:
    """Return up to `many` fires from the cursor on, and the new cursor."""
    found: list[datetime] = []
    for verdict in fires(_without_max_count(schedule), backfill.cursor, backfill.until):
        if len(found) == many:
            return found, verdict.fire_time
        if isinstance(verdict, FireVerdict):
            found.append(verdict.fire_time)
    return found, backfill.until


def _without_max_count(schedule: Schedule) -> Schedule:
    """Return the schedule without `max_count`: a backfill does not count earlier fires."""
    return replace(schedule, policies=replace(schedule.policies, max_count=None))
