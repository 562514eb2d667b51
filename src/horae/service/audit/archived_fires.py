"""Archived days in an audit of fires.

1. The rows of a day that PostgreSQL has dropped are read from the archive, and judged like all others.
2. The rows of a day that PostgreSQL still has are compared: each job must have the same ones in the archive.
3. A file whose content is not what its manifest says was changed: its rows prove nothing.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

from horae import archive
from horae.archive.layout import DayFolder
from horae.archive.targets import ArchiveTarget
from horae.domain.errors import Invalid, Unavailable
from horae.domain.fire_audit.histories import RecordedFire
from horae.service.audit.fire_facts import ENDS_BEFORE
from horae.store.audit import archived_fires
from horae.store.audit.archived_fires import AuditedDay
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.databases import days
from horae.store.protocol import CellProtocol

ONE_DAY: Final = timedelta(days=1)
DIGESTED_SPAN: Final = timedelta(hours=3)
"""The part of a day whose rows one statement digests."""
CHANGED: Final = "an archived file with rows of the job was changed"
DIFFERENT: Final = "the archived rows of this day are not those that PostgreSQL has"


class ArchivedRange(NamedTuple):
    """What the archive has in the range of an audit.

    `cold`: the rows of days that PostgreSQL has dropped. `altered`: jobs whose archived rows were changed, with the
    first such day and what is wrong.
    """

    cold: Sequence[Any]
    altered: Mapping[UUID, tuple[datetime, str]]

    def rows(self, job_id: UUID, since: datetime, until: datetime) -> list[RecordedFire]:
        """The archived rows of a job with fire times from `since` to `until`, of dropped days."""
        return [_recorded(row) for row in self.columns(job_id, since, until)]

    def columns(self, job_id: UUID, since: datetime, until: datetime) -> Iterator[Mapping[str, Any]]:
        """The same rows, each with all its columns."""
        for row in (row for day in self.cold for row in day.rows(job_id)):
            if row["fire_time"] < until and (row["range_to"] or row["fire_time"]) >= since:
                yield row


NOTHING_ARCHIVED: Final = ArchivedRange((), {})


async def read_archive(
    cells: Sequence[CellProtocol],
    target: ArchiveTarget | None,
    since: datetime,
    until: datetime,
    tenant_id: UUID | None,
) -> ArchivedRange:
    """Read and compare the archived days of a range. Raises `Invalid` if rows of the range are nowhere any more."""
    first = (since - ENDS_BEFORE).date()
    listed = await ask_each(cells, partial(ask_by_statement, partial(archived_fires.listing, first=first)))
    dropped = await ask_each(cells, partial(ask_by_statement, partial(days.dropped_until, parents=[days.HISTORY])))
    if listed.down or dropped.down:
        raise Unavailable(f"an audit needs every cell, and {', '.join({*listed.down, *dropped.down})} does not answer")
    cold: list[Any] = []
    altered: dict[UUID, tuple[datetime, str]] = {}
    for cell, known in listed.found.items():
        kept = [] if target is None else known
        _check_kept(dropped.found[cell], {day.day for day in kept if not day.is_hot}, since)
        for day in kept:
            if not day.is_hot:
                cold.append(await asyncio.to_thread(_read_cold, target, day, tenant_id, until))
                changed = cold[-1].doubtful
            elif since.date() <= day.day <= until.date():
                changed = await _differing(cell, target, day, tenant_id)
            else:
                continue
            for job_id in changed:
                altered.setdefault(job_id, (_begin(day.day), DIFFERENT if day.is_hot else CHANGED))
    return ArchivedRange(cold, altered)


def _check_kept(dropped_until: datetime | None, archived: set[date], since: datetime) -> None:
    """Refuse a range that begins in a day whose rows are nowhere: all of its fires would seem to be missing."""
    day, missing = (since - ENDS_BEFORE).date(), None
    while dropped_until is not None and _begin(day) < dropped_until:
        if day not in archived:
            missing = day
        day += ONE_DAY
    if missing is not None:
        first = _begin(missing) + ONE_DAY + ENDS_BEFORE
        raise Invalid(f"the rows of earlier days were dropped: an audit can begin at {first:%Y-%m-%dT%H:%MZ}")


async def _differing(
    cell: CellProtocol, target: ArchiveTarget | None, day: AuditedDay, tenant_id: UUID | None
) -> set[UUID]:
    """The jobs whose rows differ in the archive. A difference counts if a second look finds it, too."""
    first = await _compare(cell, target, day, tenant_id)
    return first & await _compare(cell, target, day, tenant_id) if first else first


async def _compare(
    cell: CellProtocol, target: ArchiveTarget | None, day: AuditedDay, tenant_id: UUID | None
) -> set[UUID]:
    archived = await asyncio.to_thread(_archived_digests, target, day, tenant_id)
    hot = await _hot_digests(cell, day, tenant_id)
    return {job_id for job_id in archived.keys() | hot.keys() if archived.get(job_id) != hot.get(job_id)}


async def _hot_digests(cell: CellProtocol, day: AuditedDay, tenant_id: UUID | None) -> dict[UUID, tuple[int, int]]:
    """The digests of a day in PostgreSQL. Each statement reads a part of the day, so that none takes long."""
    found: dict[UUID, tuple[int, int]] = {}
    for begin in (_begin(day.day) + n * DIGESTED_SPAN for n in range(ONE_DAY // DIGESTED_SPAN)):
        async with cell.statement() as tx:
            part = await archived_fires.digests(tx, begin, begin + DIGESTED_SPAN, tenant_id)
        for job_id, (rows, digest) in part.items():
            before = found.get(job_id, (0, 0))
            found[job_id] = (before[0] + rows, before[1] + digest)
    return found


def _archived_digests(
    target: ArchiveTarget | None, day: AuditedDay, tenant_id: UUID | None
) -> Mapping[UUID, tuple[int, int]]:
    found: Mapping[UUID, tuple[int, int]] = _read_day(target, day, tenant_id, None).digests()
    return found


def _read_cold(target: ArchiveTarget | None, day: AuditedDay, tenant_id: UUID | None, until: datetime) -> Any:
    """The rows of a day that PostgreSQL has dropped. Raises `Unavailable` if a file of them cannot be read."""
    read = _read_day(target, day, tenant_id, until)
    if not read.is_whole:
        raise Unavailable(f"the archive cannot be read: {', '.join(read.changed_files)}")
    return read


def _read_day(
    target: ArchiveTarget | None, day: AuditedDay, tenant_id: UUID | None, fires_before: datetime | None
) -> Any:
    return archive.load("job_rows").read_day(
        target,
        DayFolder(day.day, day.archive_id),
        day.generation,
        (day.rows, day.bytes),
        tenant_id=tenant_id,
        fires_before=fires_before,
    )


def _recorded(row: Mapping[str, Any]) -> RecordedFire:
    return RecordedFire(
        **{name: row[name] for name in RecordedFire._fields if name != "version"}, version=row["job_version"]
    )


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
