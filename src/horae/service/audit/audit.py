"""The audit log over all cells: reads it, and writes the rows of what people decide."""

from datetime import UTC, datetime
from itertools import chain
from typing import Final
from uuid import UUID

from horae.domain.ids import shard_in
from horae.domain.tenants.tenants import Tenant
from horae.runtime.randomness import new_id
from horae.service.context import CallerContext, Context
from horae.store.audit import audit
from horae.store.audit.audit import AuditFilter, Entry
from horae.store.tx import Tx

__all__ = ["AuditFilter", "Entry", "Place", "page", "record", "record_rescue"]

Place = tuple[datetime, UUID]
"""The time and id of an audit row."""
NEWEST: Final[Place] = (datetime(9999, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1))
"""A place that is newer than every audit row."""


async def page(ctx: Context, before: Place | None, sought: AuditFilter, limit: int) -> list[Entry]:
    """Returns the matching audit rows of the tenant, newest first, older than `before`."""
    found = await ctx.ask_each(lambda tx: audit.page(tx, ctx.tenant.id, before or NEWEST, sought, limit))
    return sorted(chain.from_iterable(found), key=lambda entry: (entry.at, entry.id), reverse=True)[:limit]


async def record(ctx: Context, tx: Tx, action: str, shard: int, resource: str, detail: object) -> None:
    """Write the audit row of a person's decision, after a statement that carries the fence."""
    id_ = new_id(shard, tx.now)
    await audit.append(tx, shard, id_, ctx.tenant.id, actor=ctx.actor, action=action, resource=resource, detail=detail)


async def record_rescue(
    ctx: CallerContext, tx: Tx, platform: Tenant, action: str, resource: str, detail: dict[str, object]
) -> None:
    """Write the audit row of a command past the API, for the tenant `system`, into the cell of the transaction.

    The row has the home shard of that tenant, also where another cell holds that shard: its hash chain covers it here.
    """
    shard = shard_in(platform.id)
    id_ = new_id(shard, tx.now)
    await audit.append(tx, shard, id_, platform.id, actor=ctx.actor, action=action, resource=resource, detail=detail)
