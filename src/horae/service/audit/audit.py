"""Reads the audit log over all cells."""

from datetime import UTC, datetime
from itertools import chain
from typing import Final
from uuid import UUID

from horae.service.context import Context
from horae.store.audit import audit
from horae.store.audit.audit import AuditFilter, Entry

__all__ = ["AuditFilter", "Entry", "Place", "page"]

Place = tuple[datetime, UUID]
"""The time and id of an audit row."""
NEWEST: Final[Place] = (datetime(9999, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1))
"""A place that is newer than every audit row."""


async def page(ctx: Context, before: Place | None, sought: AuditFilter, limit: int) -> list[Entry]:
    """Returns the matching audit rows of the tenant, newest first, older than `before`."""
    found = await ctx.ask_each(lambda tx: audit.page(tx, ctx.tenant.id, before or NEWEST, sought, limit))
    return sorted(chain.from_iterable(found), key=lambda entry: (entry.at, entry.id), reverse=True)[:limit]
