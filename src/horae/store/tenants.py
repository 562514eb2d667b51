"""Tenants, in their home shard."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from horae.domain.ids import shard_in
from horae.domain.tenants import Allowance, Tenant
from horae.store.statements import sql
from horae.store.tx import Tx


async def create(tx: Tx, tenant: Tenant) -> bool:
    """Write a new tenant; False when the name is taken or its shard is closed."""
    shard = shard_in(tenant.id)
    args = (shard, tenant.id, tenant.name, tenant.width, tenant.zone, tx.now)
    return await tx.value(sql("tenants/create"), *args) is not None


async def find(tx: Tx, shard: int, name: str) -> Tenant | None:
    """The tenant of that name, at home."""
    row = await tx.row(sql("tenants/find"), shard, name)
    return None if row is None else Tenant(row["id"], row["name"], row["width"], row["zone"])


async def page(tx: Tx, after: str, limit: int) -> list[tuple[Tenant, Allowance]]:
    """The tenants that are at home in this cell, by name."""
    rows = await tx.rows(sql("tenants/page"), after, limit)
    return [(Tenant(*row[:4]), msgspec.convert(row["allowance"], Allowance)) for row in rows]


async def known(tx: Tx, id_: UUID) -> tuple[Tenant, Allowance] | None:
    """A tenant by its id, as this cell's copy has it."""
    row = await tx.row(sql("tenants/known"), id_)
    return None if row is None else (Tenant(*row[:4]), msgspec.convert(row["allowance"] or {}, Allowance))


async def allow(tx: Tx, shard: int, name: str, allowance: Allowance) -> Tenant | None:
    """Write what a tenant may use; None when there is no such tenant at home here, or its shard is moving."""
    row = await tx.row(sql("tenants/allow"), shard, name, allowance)
    return None if row is None else Tenant(*row)


async def allowances(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, Allowance]:
    """What tenants may use, as this cell's copies say; those nobody ever spoke of are missing."""
    rows = await tx.rows(sql("tenants/allowances"), ids)
    return {row["id"]: msgspec.convert(row["allowance"], Allowance) for row in rows if row["allowance"]}
