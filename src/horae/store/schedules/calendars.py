"""Calendars. A calendar's home shard follows from its name; every cell has a copy."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.errors import HoraeError
from horae.domain.schedules.calendars import Calendar
from horae.domain.steps import Steps
from horae.runtime.heavy import run_in_slices
from horae.runtime.telemetry import log
from horae.store.statements import sql
from horae.store.tx import Tx


class CalendarCopy(NamedTuple):
    """A calendar, and the version of the copy in this cell."""

    calendar: Calendar
    version: int


async def put(tx: Tx, shard: int, id_: UUID, tenant_id: UUID, calendar: Calendar) -> UUID | None:
    """Insert a calendar or replace the one with its name; returns its id, or None when the shard is closed."""
    args = (shard, id_, tenant_id, calendar.name, calendar, calendar.days, tx.now)
    found = await tx.value(sql("schedules/calendars/put"), *args)
    return found if isinstance(found, UUID) else None


async def copies(tx: Tx, tenant_id: UUID, names: Sequence[str]) -> dict[str, CalendarCopy]:
    """A tenant's calendars with these names, from this cell's copies."""
    return await _decode(await tx.rows(sql("schedules/calendars/copies"), tenant_id, names))


async def page(tx: Tx, tenant_id: UUID, after: str, limit: int) -> dict[str, CalendarCopy]:
    """A tenant's calendars after a name, by name, from this cell's copies."""
    return await _decode(await tx.rows(sql("schedules/calendars/page"), tenant_id, after, limit))


async def versions(tx: Tx, keys: Sequence[tuple[UUID, str]]) -> dict[tuple[UUID, str], int]:
    """The versions of these calendars (tenant and name) in this cell; calendars that it does not have are missing."""
    rows = await tx.rows(sql("schedules/calendars/versions"), *zip(*keys, strict=True))
    return {(row["tenant_id"], row["name"]): row["version"] for row in rows}


async def _decode(rows: Sequence[asyncpg.Record]) -> dict[str, CalendarCopy]:
    """Convert rows to calendars. A large one takes milliseconds, so other tasks run between two of them."""
    return await run_in_slices(_decode_steps(rows))


def _decode_steps(rows: Sequence[asyncpg.Record]) -> Steps[dict[str, CalendarCopy]]:
    found: dict[str, CalendarCopy] = {}
    for row in rows:
        try:
            found[row["name"]] = CalendarCopy(msgspec.convert(row["body"], Calendar), row["version"])
        except (msgspec.MsgspecError, HoraeError) as error:  # a newer release wrote it
            log.error("calendar.unreadable", calendar=str(row["id"]), reason=str(error))
        yield
    return found
