"""Who did what: read, over all cells."""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from horae.service.context import Context
from horae.store import audit
from horae.store.audit import Entry

__all__ = ["Entry", "Place", "page"]

Place = tuple[datetime, UUID]
NEWEST: Final[Place] = (datetime(9999, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1))
BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)


async def page(ctx: Context, before: Place | None, since: datetime | None, limit: int) -> list[Entry]:
    """The tenant's audit rows, newest first, older than a place and not older than a time."""
    found: list[Entry] = []
    for cell in ctx.store.cells:
        async with cell.statement() as tx:
            found += await audit.page(tx, ctx.tenant.id, before or NEWEST, since or BEGINNING, limit)
    return sorted(found, key=lambda entry: (entry.at, entry.id), reverse=True)[:limit]
