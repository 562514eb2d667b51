"""Instances of days that are in the archive only.

Row-level security ends at the archive. The tenant is bound by the path (only the files of its group are opened) and by
the comparison of every row, and each row is checked here once more.
"""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, time
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

from horae.archive.layout import DayFolder
from horae.archive.row_queries import ColdDay, DayVanished, ReadCost, RowOrder, RowQuery
from horae.domain.encryption.encrypted_values import read
from horae.domain.errors import ArchiveUnavailable, HoraeError
from horae.domain.instances.searches import InstanceFilter, InstanceMark
from horae.domain.jobs.jobs import Job
from horae.runtime.telemetry import log
from horae.service.context import Context
from horae.service.encryption.encryption import decrypt_record
from horae.service.instances.archive_reader import ArchiveReader
from horae.store.databases import cold_days
from horae.store.instances.history import InstanceRecord, with_plain_attempt
from horae.store.jobs import jobs
from horae.store.tx import Tx

__all__ = ["ColdInstance", "ColdPage", "ReadCost", "find", "first_day", "page"]
Result = TypeVar("Result")
MOST_TRIES: Final = 3
"""Reads of the register: a day may get a new generation, or expire, while it is searched."""
SAME_NAMED: Final = set(InstanceRecord._fields) - {"changed_at", "deadline", "replay_of", "job", "unreadable"}
"""The fields of an instance that a row of the archive has by the same name, or not at all."""


class ColdPage(NamedTuple):
    """Instances from the archive, the mark of the next page, and what the read cost."""

    found: list[InstanceRecord]
    next: InstanceMark | None
    cost: ReadCost


class ColdInstance(NamedTuple):
    """One instance from the archive, and what the read cost."""

    found: InstanceRecord
    cost: ReadCost


async def page(
    ctx: Context,
    job: Job | None,
    order: RowOrder,
    sought: InstanceFilter,
    before: InstanceMark,
    limit: int,
    seconds: float | None = None,
) -> ColdPage | None:
    """Returns archived instances of a job or of all jobs, newest first; None where no day is cold."""
    query = RowQuery(ctx.tenant.id, None if job is None else job.id, order, sought, before, limit)
    read = await _read(ctx, lambda reader, days: reader.page(days, query, seconds))
    if read is None:
        return None
    found = [_record(ctx, row, query.job_id) for row in read.rows]
    if job is None:
        return ColdPage(await _with_names(ctx, found), read.next, read.cost)
    return ColdPage([past._replace(job=job.name) for past in found], read.next, read.cost)


async def find(ctx: Context, id_: UUID) -> ColdInstance | None:
    """Returns one archived instance with its attempts and its decrypted payload."""
    read = await _read(ctx, lambda reader, days: reader.find(days, ctx.tenant.id, id_))
    row, meter = (None, None) if read is None else read
    if row is None or meter is None:
        return None
    if row["id"] != id_:
        raise ArchiveUnavailable("the archive returned another instance than the one asked for")
    [found] = await _with_names(ctx, [with_plain_attempt(_record(ctx, row))])
    return ColdInstance(await decrypt_record(ctx, found), meter.cost())


async def first_day(ctx: Context) -> datetime | None:
    """Returns when the oldest cold day began; None where no day is cold."""
    days = [] if ctx.memory.archive is None else await _cold_days(ctx)
    return datetime.combine(min(days).day, time(), UTC) if days else None


async def _read(ctx: Context, work: Callable[[ArchiveReader, list[ColdDay]], Awaitable[Result]]) -> Result | None:
    """Read the cold days of all cells that answer.

    1. An object that is gone belongs to a generation that was replaced, or to a day that has expired. The register
       says which: it is read again.
    2. If the register still names the same generation, objects are lost. That is an error, not an empty day.
    """
    reader = ctx.memory.archive
    days = [] if reader is None else await _cold_days(ctx)
    for _ in range(MOST_TRIES):
        if reader is None or not days:
            return None
        try:
            return await work(reader, days)
        except DayVanished as error:
            days = await _cold_days(ctx)
            if error.day in days:
                log.error("archive.objects_missing", day=f"{error.day.day}", manifest=error.day.manifest)
                raise ArchiveUnavailable(f"objects of {error.day.day} are missing in the archive") from error
    raise ArchiveUnavailable("the archive changes now; ask again")


async def _cold_days(ctx: Context) -> list[ColdDay]:
    listed = await ctx.ask_each(cold_days.listing)
    return [ColdDay(DayFolder(row.day, row.archive_id), row.generation) for rows in listed for row in rows]


async def _with_names(ctx: Context, found: list[InstanceRecord]) -> list[InstanceRecord]:
    """Returns the instances with the names of their jobs."""
    if not found:
        return []
    known: dict[UUID, str] = {}
    for names in await ctx.ask_each(partial(_names, ctx, {past.job_id for past in found})):
        known |= names
    return [past._replace(job=known.get(past.job_id)) for past in found]


async def _names(ctx: Context, ids: set[UUID], tx: Tx) -> dict[UUID, str]:
    return await jobs.names(tx, ctx.tenant.id, ids)


def _record(ctx: Context, row: dict[str, Any], job_id: UUID | None = None) -> InstanceRecord:
    """Returns an archived row as an instance. Refuses a row that is not the tenant's, or not of the job."""
    if row["tenant_id"] != ctx.tenant.id or job_id not in (None, row["job_id"]):
        log.error("archive.foreign_row", tenant=ctx.tenant.id, row=str(row["id"]))
        raise HoraeError("the archive returned a row of another tenant or job")
    values = {name: value for name, value in row.items() if name in SAME_NAMED}
    values["changed_at"] = row["ended_at"]
    for name in ("payload", "attempts"):
        values[name] = json.loads(text) if (text := row.get(name)) is not None else None
    return InstanceRecord(**values | {"payload": read(values["payload"])})
