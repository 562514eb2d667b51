"""Tasks that attempts asked for with their end: each is made once, under a key of its own, and stays retriable."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from horae.domain.compensations import Compensation
from horae.domain.errors import NotFound, Unavailable
from horae.domain.ids import Prefix, public
from horae.domain.sealed import compensation_of, read
from horae.domain.tenants import Standing
from horae.security.sealing import seal
from horae.service import task_once
from horae.service.context import Context
from horae.service.places import insisting
from horae.store import tenants
from horae.store.cells import Cell, Store

ACTOR = "relay"


async def caller(store: Store, cell: Cell, tenant_id: UUID) -> Context:
    """On whose behalf: the tenant as the event's own cell knows it."""
    async with cell.statement() as tx:
        found = await tenants.known(tx, tenant_id)
        holding = await tenants.holding(tx, tenant_id) if found is None else None
    if found is None and holding == Standing.REMOVED:
        raise NotFound("the tenant is gone")
    if found is None:
        raise Unavailable("the tenant is not known in this cell yet")
    return Context.of(store, found[0], ACTOR)


async def sealed(ctx: Context, instance_id: UUID, asked: Sequence[Compensation]) -> Sequence[Compensation]:
    """As the outbox holds them: nobody reads a payload there without its tenant's key."""
    if all(one.payload is msgspec.UNSET for one in asked):
        return asked
    key, spot = await ctx.store.sealing.key(ctx.tenant.id), compensation_of(instance_id)
    return [
        one if one.payload is msgspec.UNSET else msgspec.structs.replace(one, payload=seal(key, spot, one.payload))
        for one in asked
    ]


async def make(ctx: Context, instance_id: UUID, asked_at: datetime, body: dict[str, Any]) -> None:
    """Schedule what was asked for. The key is the asking instance's: whoever relays it again changes nothing."""
    one = msgspec.convert(body, Compensation)
    key = f"{public(Prefix.INSTANCE, instance_id)}:{asked_at.timestamp():.6f}:{body['number']}"
    payload = await ctx.store.sealing.open(ctx.tenant.id, compensation_of(instance_id), read(one.payload))
    facts: dict[str, Any] = {"at": one.at, "payload": payload, "version": one.version}
    await insisting(ctx, lambda ctx: task_once.schedule(ctx, key, one.type, one.key, **facts))
