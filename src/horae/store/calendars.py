"""Calendars: at home in the shard of their name, copied to every cell."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.calendars import Calendar
from horae.domain.errors import HoraeError
from horae.domain.steps import Steps
from horae.runtime.heavy import run_in_slices
from horae.runtime.telemetry import log
from horae.store.statements import sql
from horae.store.tx import Tx


class CalendarCopy(NamedTuple):
    """A calendar, and which publication of it this cell has."""

    calendar: Calendar
    version: int


async def put(tx: Tx, shard: int, id_: UUID, tenant_id: UUID, calendar: Calendar) -> UUID | None:
    """Write a calendar, new or in the place of the one with its name; returns its id, None when the shard is closed."""
    args = (shard, id_, tenant_id, calendar.name, calendar, calendar.days, tx.now)
    found = await tx.value(sql("calendars/put"), *args)
    return found if isinstance(found, UUID) else None


async def copies(tx: Tx, tenant_id: UUID, names: Sequence[str]) -> dict[str, CalendarCopy]:
    """A tenant's calendars of these names, as this cell's copies have them."""
    return await _decode(await tx.rows(sql("calendars/copies"), tenant_id, names))


async def page(tx: Tx, tenant_id: UUID, after: str, limit: int) -> dict[str, CalendarCopy]:
    """A tenant's calendars behind a name, by name, as this cell's copies have them."""
    return await _decode(await tx.rows(sql("calendars/page"), tenant_id, after, limit))


async def versions(tx: Tx, keys: Sequence[tuple[UUID, str]]) -> dict[tuple[UUID, str], int]:
    """Which versions of these calendars (tenant and name) this cell has; those that it has not are left out."""
    rows = await tx.rows(sql("calendars/versions"), *zip(*keys, strict=True))
    return {(row["tenant_id"], row["name"]): row["version"] for row in rows}


async def _decode(rows: Sequence[asyncpg.Record]) -> dict[str, CalendarCopy]:
    """The calendars of rows: a large one takes milliseconds, so others have their turn between two of them."""
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
