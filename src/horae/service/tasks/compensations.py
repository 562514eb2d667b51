"""Compensations: tasks that the end of an attempt requests.

The relay (`horae.upkeep.relay`) creates each of them once, under an idempotency key of its own. A failed creation can
be retried.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from horae.domain.encryption.encrypted_values import compensation_of, read
from horae.domain.errors import Invalid, NotFound, Unavailable
from horae.domain.ids import Prefix, public
from horae.domain.tasks.compensations import Compensation
from horae.domain.tenants.tenants import TenantStatus
from horae.security.payload_cipher import encrypt_value
from horae.service.context import Context
from horae.service.tasks import idempotent
from horae.service.tenants.places import retry_if_widened
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tenants import tenants

ACTOR = "relay"


async def caller(store: StoreProtocol, cell: CellProtocol, tenant_id: UUID, actor: str = ACTOR) -> Context:
    """Returns a context for the tenant of an event, as the cell of that event knows the tenant."""
    async with cell.statement() as tx:
        found = await tenants.known(tx, tenant_id)
        holding = await tenants.holding(tx, tenant_id) if found is None else None
    if found is None and holding == TenantStatus.REMOVED:
        raise NotFound("the tenant is gone")
    if found is None:
        raise Unavailable("the tenant is not known in this cell yet")
    return Context.of(store, found[0], actor)


async def encrypt_payloads(ctx: Context, instance_id: UUID, asked: Sequence[Compensation]) -> Sequence[Compensation]:
    """Returns the compensations as the outbox stores them: with encrypted payloads."""
    if all(one.payload is msgspec.UNSET for one in asked):
        return asked
    key, spot = await ctx.store.cipher.key(ctx.tenant.id), compensation_of(instance_id)
    return [
        one
        if one.payload is msgspec.UNSET
        else msgspec.structs.replace(one, payload=encrypt_value(key, spot, one.payload))
        for one in asked
    ]


async def create_task(ctx: Context, instance_id: UUID, asked_at: datetime, body: dict[str, Any]) -> None:
    """Schedule the task that the end of an attempt requested.

    The idempotency key is derived from the requesting instance, so a second relay of the same request changes nothing.
    A request that cannot be read is `Invalid`.
    """
    one = _request_of(body)
    key = f"{public(Prefix.INSTANCE, instance_id)}:{asked_at.timestamp():.6f}:{body['number']}"
    payload = await ctx.store.cipher.decrypt(ctx.tenant.id, compensation_of(instance_id), read(one.payload))
    facts: dict[str, Any] = {"at": one.at, "payload": payload, "version": one.version}
    await retry_if_widened(ctx, lambda ctx: idempotent.schedule(ctx, key, one.type, one.key, **facts))


def _request_of(body: dict[str, Any]) -> Compensation:
    try:
        return msgspec.convert(body, Compensation)
    except msgspec.ValidationError as error:
        raise Invalid(f"the request cannot be read: {error}") from error
