"""Calendars: at home in the shard of their name, copied to every cell."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from horae.domain.calendars import Calendar
from horae.store.statements import sql
from horae.store.tx import Tx


async def put(tx: Tx, shard: int, id_: UUID, tenant_id: UUID, calendar: Calendar) -> UUID | None:
    """Write a calendar, new or in the place of the one with its name; returns its id, None when the shard is closed."""
    args = (shard, id_, tenant_id, calendar.name, calendar, tx.now)
    found = await tx.value(sql("calendars/put"), *args)
    return found if isinstance(found, UUID) else None


async def copies(tx: Tx, tenant_ids: Sequence[UUID]) -> dict[tuple[UUID, str], Calendar]:
    """The calendars of some tenants, as this cell's copies have them."""
    rows = await tx.rows(sql("calendars/copies"), tenant_ids)
    return {(row["tenant_id"], row["name"]): msgspec.convert(row["body"], Calendar) for row in rows}
