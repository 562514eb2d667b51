"""The roles of principals. The row is in the tenant's home shard, and every other cell has a copy."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import asyncpg

from horae.domain.identity.principals import RoleBinding
from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx


async def put(tx: Tx, tenant_id: UUID, binding: RoleBinding) -> bool:
    """Replace the roles of a principal; False when the shard is closed."""
    args = (shard_in(tenant_id), tenant_id, binding.principal, binding.roles, tx.now)
    return await tx.value(sql("identity/role_bindings/put"), *args) is not None


async def find(tx: Tx, tenant_id: UUID, principal: str) -> RoleBinding:
    """The roles of a principal, possibly none."""
    row = await tx.row(sql("identity/role_bindings/find"), shard_in(tenant_id), tenant_id, principal)
    return RoleBinding(principal, () if row is None else tuple(row["roles"]))


async def of(tx: Tx, tenant_id: UUID, principals: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The roles of several principals; a principal without roles is missing."""
    rows = await tx.rows(sql("identity/role_bindings/of"), shard_in(tenant_id), tenant_id, principals)
    return {row["principal"]: tuple(row["roles"]) for row in rows}


async def page(tx: Tx, tenant_id: UUID, after: str, limit: int) -> list[RoleBinding]:
    """The principals of a tenant that have roles, by name."""
    rows = await tx.rows(sql("identity/role_bindings/page"), shard_in(tenant_id), tenant_id, after, limit)
    return [RoleBinding(row["principal"], tuple(row["roles"])) for row in rows]


async def changed(tx: Tx, since: datetime, limit: int) -> list[asyncpg.Record]:
    """The bindings of this cell's own shards that changed since a time, oldest change first, as rows for `copy`.

    Changes of the same moment stay together, so there may be more rows than `limit`.
    """
    return await tx.rows(sql("identity/role_bindings/changed"), since, limit)


async def copy(tx: Tx, rows: Sequence[asyncpg.Record]) -> int:
    """Write the copies that are newer than the stored ones; returns how many."""
    return len(await tx.rows(sql("identity/role_bindings/copy"), [dict(row) for row in rows]))


async def removed(tx: Tx, before: datetime, limit: int) -> list[asyncpg.Record]:
    """The bindings of this cell's shards that lost their last role before a time, oldest first, as rows for `copy`."""
    return await tx.rows(sql("identity/role_bindings/removed"), before, limit)


async def forget(tx: Tx, before: datetime, *, at_home: bool) -> int:
    """Delete bindings that lost their last role before a time: own rows (`at_home`) or copies; returns how many."""
    return len(await tx.rows(sql("identity/role_bindings/forget"), before, at_home))


async def tenants_of(tx: Tx, principals: Sequence[str]) -> list[UUID]:
    """The tenants in which any of these principals has a role, as this cell knows."""
    return [row["tenant_id"] for row in await tx.rows(sql("identity/role_bindings/tenants_of"), principals)]


async def roles_of(tx: Tx, tenant_id: UUID, principals: Sequence[str]) -> list[str]:
    """The roles of several principals together: a person's own and those of their groups."""
    rows = await tx.rows(sql("identity/role_bindings/roles_of"), shard_in(tenant_id), tenant_id, principals)
    return sorted(row["role"] for row in rows)
