"""Tenants, in their home shard."""

from horae.domain.ids import shard_in
from horae.domain.tenants import Tenant
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
