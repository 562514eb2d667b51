"""Past fires of a schedule, asked for as a range and made one portion after the other.

A range never reaches past the job's own cursor: what lies ahead of it is the schedule's. The fires are those that the
schedule has now, with its calendars and single occurrences; a fire that succeeded before is left alone, unless someone
asks for a deliberate re-run, whose fires have keys of their own.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec
from msgspec.structs import replace

from horae.domain.errors import CountReached, Invalid
from horae.domain.schedule import Fire, Schedule, expected, fires
from horae.domain.schedule.plan import stretches

DEFAULT_CAP: Final = 10_000
MOST: Final = 1_000_000
MAX_RUNNING: Final = 100
"""Backfills of a tenant that are under way at once."""
LONGEST_RANGE: Final = timedelta(days=3660)
"""Ten years: where a job has calendars every day of the range is looked at."""


class Progress(StrEnum):
    """How far a backfill has come."""

    RUNNING = "RUNNING"
    DONE = "DONE"
    CANCELLED = "CANCELLED"


class Backfill(msgspec.Struct, frozen=True, kw_only=True):
    """From `since` to `until` (excluded). Everything before `cursor` is decided: born, or already done before."""

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
    status: Progress = Progress.RUNNING
    born: int = 0
    already: int = 0
    ended_at: datetime | None = None


def check(since: datetime, until: datetime, cap: int) -> None:
    """Refuse ranges that mean nothing, and caps that cap nothing."""
    if since.tzinfo is None or until.tzinfo is None:
        raise Invalid("a time needs its offset, for example 2026-11-15T09:00:00+08:00")
    if since >= until:
        raise Invalid("the range ends before it begins, or reaches no further than where the job's schedule stands")
    if until - since > LONGEST_RANGE:
        raise Invalid(f"a range is at most {LONGEST_RANGE.days} days long")
    if not 1 <= cap <= MOST:
        raise Invalid(f"a cap is 1 to {MOST} fires, not {cap}")


def check_running(there_are: int) -> None:
    """Refuse one more where as many are under way as may be."""
    if there_are >= MAX_RUNNING:
        raise CountReached(
            f"{there_are} backfills of the tenant are under way, and {MAX_RUNNING} may be: wait, or cancel some",
            kind="backfills",
            most=MAX_RUNNING,
        )


def planned(schedule: Schedule, since: datetime, until: datetime, cap: int) -> int:
    """How many fires lie in a range, counted without visiting them; refused when there are more than the cap."""
    open_ = (part for part in stretches(_unbounded(schedule), since, until) if part.reason is None)
    many = sum(expected.counted(schedule.trigger, part.since, part.until) for part in open_)
    if many > cap:
        raise Invalid(f"there are {many} fires in this range, more than the cap of {cap}")
    return many


def portion(schedule: Schedule, backfill: Backfill, many: int) -> tuple[list[datetime], datetime]:
    """The next fires from the cursor on, at most so many, and where the cursor goes."""
    found: list[datetime] = []
    for verdict in fires(_unbounded(schedule), backfill.cursor, backfill.until):
        if len(found) == many:
            return found, verdict.fire_time
        if isinstance(verdict, Fire):
            found.append(verdict.fire_time)
    return found, backfill.until


def _unbounded(schedule: Schedule) -> Schedule:
    """Without the count of fires: how many there were before is not asked for the past."""
    return replace(schedule, policies=replace(schedule.policies, max_count=None))
