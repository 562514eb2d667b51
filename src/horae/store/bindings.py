"""The roles of principals: at home in their tenant's home shard, with the same row as a copy in every other cell."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import asyncpg

from horae.domain.identity import Binding
from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx


async def put(tx: Tx, tenant_id: UUID, binding: Binding) -> bool:
    """Write a principal's roles, in the place of those before; False when the shard is closed."""
    args = (shard_in(tenant_id), tenant_id, binding.principal, binding.roles, tx.now)
    return await tx.value(sql("bindings/put"), *args) is not None


async def find(tx: Tx, tenant_id: UUID, principal: str) -> Binding:
    """The roles of a principal, maybe none."""
    row = await tx.row(sql("bindings/find"), shard_in(tenant_id), tenant_id, principal)
    return Binding(principal, () if row is None else tuple(row["roles"]))


async def of(tx: Tx, tenant_id: UUID, principals: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The roles of each of several principals; who has none is missing."""
    rows = await tx.rows(sql("bindings/of"), shard_in(tenant_id), tenant_id, principals)
    return {row["principal"]: tuple(row["roles"]) for row in rows}


async def page(tx: Tx, tenant_id: UUID, after: str, limit: int) -> list[Binding]:
    """The principals of a tenant that have roles, by name."""
    rows = await tx.rows(sql("bindings/page"), shard_in(tenant_id), tenant_id, after, limit)
    return [Binding(row["principal"], tuple(row["roles"])) for row in rows]


async def changed(tx: Tx, since: datetime, limit: int) -> list[asyncpg.Record]:
    """What changed at home here since a time, the oldest change first, as rows for `copy`; at least `limit`."""
    return await tx.rows(sql("bindings/changed"), since, limit)


async def copy(tx: Tx, rows: Sequence[asyncpg.Record]) -> int:
    """Write copies where they are newer than what is there; returns how many were."""
    return len(await tx.rows(sql("bindings/copy"), [dict(row) for row in rows]))


async def removed(tx: Tx, before: datetime, limit: int) -> list[asyncpg.Record]:
    """The bindings at home here that lost their last role before a time, oldest first, as rows for `copy`."""
    return await tx.rows(sql("bindings/removed"), before, limit)


async def forget(tx: Tx, before: datetime, *, at_home: bool) -> int:
    """Delete the bindings that lost their last role before a time, at home here or copied; returns how many."""
    return len(await tx.rows(sql("bindings/forget"), before, at_home))


async def tenants_of(tx: Tx, principals: Sequence[str]) -> list[UUID]:
    """The tenants in which any of these has a role, as this cell knows."""
    return [row["tenant_id"] for row in await tx.rows(sql("bindings/tenants_of"), principals)]


async def roles_of(tx: Tx, tenant_id: UUID, principals: Sequence[str]) -> list[str]:
    """The roles of several principals together: a person's own and those of their groups."""
    rows = await tx.rows(sql("bindings/roles_of"), shard_in(tenant_id), tenant_id, principals)
    return sorted(row["role"] for row in rows)
