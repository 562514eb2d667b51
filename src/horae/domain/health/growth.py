"""How fast a cell grows, when its disk is full, and what keeps old days from being dropped.

A node measures it (`upkeep.growth`); `horae doctor`, the API and the console show the last measurement.
"""

from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Final

import msgspec

RATE_DAYS: Final = 7
"""Full days whose mean is the growth of a day."""
HORIZON_DAYS: Final = 365
"""Days for which the size is projected."""
MIN_BLOATED_ROWS: Final = 100_000
"""Dead rows below which a table does not count as bloated."""
GIB: Final = 2**30


class DaySize(msgspec.Struct, frozen=True):
    """The bytes of one day of history and events, with their indexes."""

    day: date
    bytes: int


class TableSize(msgspec.Struct, frozen=True):
    """A table whose rows change: its bytes with indexes, and its rows by PostgreSQL's own count."""

    name: str
    bytes: int
    live_rows: int
    dead_rows: int

    @property
    def bloated(self) -> bool:
        """Whether it has more dead rows than live ones, and many."""
        return self.dead_rows > max(self.live_rows, MIN_BLOATED_ROWS)


class DaysHeldBack(msgspec.Struct, frozen=True):
    """Days that are over their term and still needed, and who has not read them.

    `unrelayed` counts compensations of these days that were not relayed.
    """

    days: int
    oldest: date
    subscriptions: tuple[str, ...] = ()
    unrelayed: int = 0


class RetentionTerms(msgspec.Struct, frozen=True):
    """How many days the nodes keep what, by their settings. `archive`: days in the archive; None without one."""

    history: int
    held: int
    logs: int
    dead_letters: int
    ended_jobs: int
    audit: int
    archive: int | None = None


class LagReason(StrEnum):
    """Why a day that has ended is not archived yet."""

    FAILED = "FAILED"
    """The last round could not write to the archive, or not read it."""
    OPEN_TRANSACTIONS = "OPEN_TRANSACTIONS"
    """A transaction that could write to the day has not ended."""
    UNREAD = "UNREAD"
    """A subscription has not been sent all of the day."""
    DUE = "DUE"
    """Nothing: the next round archives it."""


class ArchiveLag(msgspec.Struct, frozen=True):
    """The days that have ended and are not archived, and why the oldest one waits. `failure`: what the archive said."""

    days: int
    oldest: date
    reason: LagReason
    subscriptions: tuple[str, ...] = ()
    failure: str = ""


class Growth(msgspec.Struct, frozen=True):
    """The sizes of a cell at a time. `disk_bytes` is the space that the deployment says it has; None: unknown.

    A node of an earlier release writes no `terms`.
    """

    measured_at: datetime
    kept_days: int
    days_ahead: int
    database_bytes: int
    disk_bytes: int | None
    days: tuple[DaySize, ...]
    tables: tuple[TableSize, ...]
    held: DaysHeldBack | None = None
    terms: RetentionTerms | None = None
    lag: ArchiveLag | None = None

    @property
    def day(self) -> date:
        """The day of the measurement, by UTC."""
        return self.measured_at.astimezone(UTC).date()

    @property
    def oldest_day(self) -> date | None:
        """The oldest day that is still there."""
        return min((one.day for one in self.days), default=None)

    @property
    def bytes_per_day(self) -> int | None:
        """The mean of the last full days, up to seven; None before the first full day with rows."""
        full = sorted((one for one in self.days if one.day < self.day and one.bytes), key=lambda one: one.day)
        last = full[-RATE_DAYS:]
        return sum(one.bytes for one in last) // len(last) if last else None

    def bytes_after(self, days: int) -> int:
        """The size of the database after some days, if each adds as much as the last ones.

        The kept days and the current one stay; while a day is held back, none is dropped. Other tables stay the same.
        """
        rate = self.bytes_per_day or 0
        if self.held is not None:
            return self.database_bytes + rate * days
        first_kept = self.day + timedelta(days=days - self.kept_days)
        dropped = sum(one.bytes for one in self.days if one.day < first_kept)
        return self.database_bytes - dropped + rate * min(days, self.kept_days + 1)

    @property
    def days_until_full(self) -> int | None:
        """Days until the database is larger than the disk; None if that is unknown, or not within a year."""
        if self.disk_bytes is None or self.bytes_per_day is None:
            return None
        sizes = (days for days in range(HORIZON_DAYS + 1) if self.bytes_after(days) > (self.disk_bytes or 0))
        return next(sizes, None)


def over_term(day: date, now: datetime, kept_days: int) -> bool:
    """Whether a day has ended so long ago that it is no longer kept."""
    return datetime.combine(day, time(), UTC) + timedelta(days=1 + kept_days) <= now


def gigabytes(size: float) -> str:
    """A size as a person reads it, with three digits at most."""
    for unit, bytes_ in (("TiB", 2**40), ("GiB", GIB), ("MiB", 2**20)):
        if size >= bytes_:
            return f"{size / bytes_:.3g} {unit}" if size < 1000 * bytes_ else f"{size / bytes_:,.0f} {unit}"
    return f"{size / 1024:,.0f} KiB"
