"""The days of a cell that are archived, and the rows of a day as the archive reads them: page by page.

Each statement over the rows of a day reads some pages only, so that no snapshot is held for long.
"""

from collections.abc import Callable, Coroutine, Iterator
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID

from horae.domain.health.doctor import UnarchivedDays
from horae.store.databases.days import Day, DayState
from horae.store.statements import sql
from horae.store.tx import Tx

if TYPE_CHECKING:
    from horae.store.connections.deadlines import Connection

PAGES_AT_ONCE: Final = 4096
"""Pages of a day that one statement reads: 32 MB, about 80,000 rows."""
Sink = Callable[[bytes], Coroutine[Any, Any, None]]


class ArchiveState(StrEnum):
    """How far the archive of a day is."""

    CLOSING = "CLOSING"
    """Nothing was written: transactions that could write to the day have to end first."""
    ARCHIVED = "ARCHIVED"
    EXPIRING = "EXPIRING"
    """The objects of the day are being deleted."""


class ArchivedDay(NamedTuple):
    """One day in the register of a cell. `is_closed`: no transaction can write to it any more."""

    day: date
    archive_id: UUID
    state: ArchiveState
    generation: int | None
    rows: int | None
    bytes: int | None
    archived_at: datetime | None
    dropped_at: datetime | None
    cleared_until: datetime | None
    is_closed: bool


class StateRows(NamedTuple):
    """How many rows have one state, and the sum of the last 64 bits of their ids."""

    state: str
    rows: int
    ids: int


async def lock(connection: "Connection") -> bool:
    """Whether this session may change the archive of the cell now: one does at a time."""
    return bool(await connection.fetchval(sql("databases/archived_days/lock")))


async def is_locked(connection: "Connection") -> bool:
    """Whether this session still has the lock. Raises where the connection was lost."""
    return bool(await connection.fetchval(sql("databases/archived_days/is_locked")))


async def unlock(connection: "Connection") -> None:
    """Give the lock back before the session ends."""
    await connection.execute(sql("databases/archived_days/unlock"))


async def begin(connection: "Connection", day: date, archive_id: UUID) -> bool:
    """Register a day that has ended; False where it is known."""
    return await connection.fetchval(sql("databases/archived_days/begin"), day, archive_id) is not None


async def listing(connection: "Connection") -> dict[date, ArchivedDay]:
    """All days of the register, the oldest first."""
    rows = await connection.fetch(sql("databases/archived_days/listing"))
    return {row["day"]: ArchivedDay(*row)._replace(state=ArchiveState(row["state"])) for row in rows}


async def pages(connection: "Connection", day: Day) -> int:
    """How many pages the table of a day has."""
    return int(await connection.fetchval(sql("databases/archived_days/pages"), day.partition) or 0)


async def known_rows(connection: "Connection", day: Day) -> int:
    """About how many rows the last VACUUM or ANALYZE has counted in the table of a day; not positive if none ran."""
    return int(await connection.fetchval(sql("databases/archived_days/known_rows"), day.partition) or 0)


def page_spans(number: int) -> Iterator[tuple[int, int]]:
    """The first page and the page after the last one, for each statement over so many pages."""
    for first in range(0, number, PAGES_AT_ONCE):
        yield first, first + PAGES_AT_ONCE


async def copy_rows(connection: "Connection", day: Day, span: tuple[int, int], sink: Sink) -> None:
    """Pass the rows on some pages to `sink`, as CSV."""
    statement = sql("databases/archived_days/copy_rows").format(**_places(day, span))
    await connection.copy_from_query(statement, output=sink, format="csv")


async def checksum(connection: "Connection", day: Day, span: tuple[int, int]) -> list[StateRows]:
    """The sums over the rows on some pages."""
    statement = sql("databases/archived_days/checksum").format(**_places(day, span))
    return [StateRows(row["state"], row["rows"], int(row["ids"])) for row in await connection.fetch(statement)]


def _places(day: Day, span: tuple[int, int]) -> dict[str, object]:
    """A detached day is read by its own name; its owner has a policy of its own there."""
    table = day.partition if day.state == DayState.DETACHED else day.parent
    return {"table": table, "begin": day.begin, "end": day.end, "first_page": span[0], "end_page": span[1]}


async def record(
    connection: "Connection", day: date, generation: int, rows: int, size: int, now: datetime, cleared_until: datetime
) -> bool:
    """Record a generation of a day that is written and verified. False where the day is being deleted."""
    args = (day, generation, rows, size, now, cleared_until)
    return await connection.fetchval(sql("databases/archived_days/record"), *args) is not None


async def reopen(connection: "Connection", day: date) -> None:
    """Let a day be archived again."""
    await connection.execute(sql("databases/archived_days/reopen"), day)


async def record_clearance(connection: "Connection", day: date, until: datetime) -> None:
    """Record that the archive of a day has no rows of tenants that were purged before a time."""
    await connection.execute(sql("databases/archived_days/record_clearance"), day, until)


async def record_drop(connection: "Connection", day: date, now: datetime) -> None:
    """Record that the table of an archived day is dropped."""
    await connection.execute(sql("databases/archived_days/record_drop"), day, now)


async def mark_expiring(connection: "Connection", day: date) -> None:
    """Record that the objects of a day are being deleted."""
    await connection.execute(sql("databases/archived_days/mark_expiring"), day)


async def forget(connection: "Connection", day: date) -> None:
    """Forget a day whose objects are deleted."""
    await connection.execute(sql("databases/archived_days/forget"), day)


async def unarchived(tx: Tx, before: date) -> UnarchivedDays:
    """The days before a day that wait for the archive, and what they take on the disk."""
    row = await tx.row(sql("databases/archived_days/unarchived"), before)
    return UnarchivedDays(0, 0) if row is None else UnarchivedDays(*row)
