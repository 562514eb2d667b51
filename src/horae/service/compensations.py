"""Tasks that attempts asked for with their end: each is made once, under a key of its own, and stays retriable."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from horae.domain.compensations import Compensation
from horae.domain.errors import NotFound
from horae.domain.ids import Prefix, public
from horae.service import tasks
from horae.service.context import Context
from horae.service.once import Asked, once
from horae.store import tenants
from horae.store.cells import Cell, Store

ACTOR = "relay"


async def caller(store: Store, cell: Cell, tenant_id: UUID) -> Context:
    """On whose behalf: the tenant as the event's own cell knows it."""
    async with cell.statement() as tx:
        found = await tenants.known(tx, tenant_id)
    if found is None:
        raise NotFound("the tenant is gone")
    return Context.of(store, found[0], ACTOR)


async def make(ctx: Context, instance_id: UUID, asked_at: datetime, body: dict[str, Any]) -> None:
    """Schedule what was asked for. The key is the asking instance's: whoever relays it again changes nothing."""
    one = msgspec.convert(body, Compensation)
    job = await ctx.types.find(ctx.tenant, one.type)
    place = tasks.place_of(ctx.tenant, job, one.key)
    key = f"{public(Prefix.INSTANCE, instance_id)}:{asked_at.timestamp():.6f}:{body['number']}"
    asked = Asked(key, "compensations.make", f"{one.type}/{one.key}", place.shard, body)
    await once(
        ctx,
        asked,
        lambda ctx: tasks.schedule(ctx, one.type, one.key, at=one.at, payload=one.payload, version=one.version),
        lambda answer: {"decision": answer.decision, "revision": answer.revision},
    )
