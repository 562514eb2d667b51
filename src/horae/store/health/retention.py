"""The days of a cell: which of them have tables, which are archived, and up to which day all was dropped."""

from datetime import date, datetime
from typing import NamedTuple

from horae.store.databases.archived_days import ArchiveState
from horae.store.statements import sql
from horae.store.tx import Tx


class DayRow(NamedTuple):
    """One day of a cell. `bytes`: of its tables; None: they are dropped. `state`: of its archive; None: it has none."""

    day: date
    bytes: int | None
    state: ArchiveState | None
    archived_rows: int | None
    archived_bytes: int | None
    archived_at: datetime | None
    dropped_at: datetime | None


class DroppedRow(NamedTuple):
    """The table of which days were dropped, the first day that is kept, and when the last one was dropped."""

    parent: str
    until_day: date
    dropped_at: datetime


async def days(tx: Tx) -> list[DayRow]:
    """The days with rows or an archive, the oldest first."""
    rows = [DayRow(*row) for row in await tx.rows(sql("health/retention/days"), tx.now)]
    return [row if row.state is None else row._replace(state=ArchiveState(row.state)) for row in rows]


async def dropped(tx: Tx) -> list[DroppedRow]:
    """Up to which day each kind of rows was dropped."""
    return [DroppedRow(*row) for row in await tx.rows(sql("health/retention/dropped"))]
