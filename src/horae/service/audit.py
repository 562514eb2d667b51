"""Who did what: read, over all cells."""

from datetime import UTC, datetime
from itertools import chain
from typing import Final
from uuid import UUID

from horae.service.context import Context
from horae.store import audit
from horae.store.audit import Entry, Sought

__all__ = ["Entry", "Place", "Sought", "page"]

Place = tuple[datetime, UUID]
NEWEST: Final[Place] = (datetime(9999, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1))


async def page(ctx: Context, before: Place | None, sought: Sought, limit: int) -> list[Entry]:
    """The tenant's audit rows that are sought, newest first, older than a place."""
    found = await ctx.ask_each(lambda tx: audit.page(tx, ctx.tenant.id, before or NEWEST, sought, limit))
    return sorted(chain.from_iterable(found), key=lambda entry: (entry.at, entry.id), reverse=True)[:limit]
