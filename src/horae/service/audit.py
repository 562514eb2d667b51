"""Who did what: read, over all cells."""

from datetime import UTC, datetime
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
    found: list[Entry] = []
    for cell in ctx.store.cells:
        async with cell.statement() as tx:
            found += await audit.page(tx, ctx.tenant.id, before or NEWEST, sought, limit)
    return sorted(found, key=lambda entry: (entry.at, entry.id), reverse=True)[:limit]
