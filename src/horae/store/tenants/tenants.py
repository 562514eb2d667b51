"""Tenants, in their home shards."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.errors import NewerRelease
from horae.domain.ids import shard_in
from horae.domain.placement import Layout, Placement
from horae.domain.tenants.tenants import NO_ALLOWANCE, Allowance, Tenant, TenantStatus
from horae.runtime.telemetry import log
from horae.store.reading import UNREADABLE, read_rows
from horae.store.statements import sql
from horae.store.tx import Tx


class HeldTenant(NamedTuple):
    """A tenant that is paused or removed, or was until a time."""

    id: UUID
    standing: TenantStatus
    until: datetime | None

    @property
    def held(self) -> bool:
        """Whether nothing of the tenant may run."""
        return self.standing != TenantStatus.ACTIVE


async def create(tx: Tx, tenant: Tenant) -> bool:
    """Insert a new tenant; False when the name is taken or its shard is closed."""
    shard = shard_in(tenant.id)
    args = (shard, tenant.id, tenant.name, tenant.width, tenant.zone, tx.now, tenant.layout)
    return await tx.value(sql("tenants/tenants/create"), *args) is not None


async def find(tx: Tx, shard: int, name: str) -> Tenant | None:
    """The tenant with that name, from its home shard."""
    row = await tx.row(sql("tenants/tenants/find"), shard, name)
    return None if row is None else _tenant(row)


async def find_copy(tx: Tx, name: str) -> Tenant | None:
    """The tenant with that name, from this cell's copy."""
    row = await tx.row(sql("tenants/tenants/find_copy"), name)
    return None if row is None else _tenant(row)


async def page(tx: Tx, after: str, limit: int) -> list[tuple[Tenant, Allowance]]:
    """The tenants whose home is this cell, by name."""
    rows = await tx.rows(sql("tenants/tenants/page"), after, limit)
    return [(_tenant(row), msgspec.convert(row["allowance"], Allowance)) for row in rows]


async def known(tx: Tx, id_: UUID) -> tuple[Tenant, Allowance] | None:
    """A tenant by its id, from this cell's copy. Raises `NewerRelease` where this release cannot read the copy."""
    row = await tx.row(sql("tenants/tenants/known"), id_)
    if row is None:
        return None
    try:
        return _tenant(row), _allowance(row)
    except UNREADABLE as error:
        raise NewerRelease(f"tenant {row['name']!r} was written by a newer release; this one cannot read it") from error


async def allow(tx: Tx, shard: int, name: str, allowance: Allowance) -> Tenant | None:
    """Write a tenant's allowance; None when its home is not this cell, or its shard is moving."""
    row = await tx.row(sql("tenants/tenants/allow"), shard, name, allowance)
    return None if row is None else _tenant(row)


async def lock_allowance(tx: Tx, shard: int, name: str) -> Allowance | None:
    """A tenant's allowance from its home shard, locked until the transaction ends; None: no such tenant."""
    row = await tx.row(sql("tenants/tenants/lock_allowance"), shard, name)
    return None if row is None else msgspec.convert(row["allowance"] or {}, Allowance)


async def held(tx: Tx) -> list[HeldTenant]:
    """Tenants that are or were paused or removed, from this cell's copies."""
    return [
        HeldTenant(row["id"], _standing(row["status"]), row["until"])
        for row in await tx.rows(sql("tenants/tenants/held"))
    ]


async def holding(tx: Tx, tenant_id: UUID) -> TenantStatus | None:
    """The status of a paused or removed tenant, from this cell's copy; None when it is active."""
    found = await tx.value(sql("tenants/tenants/holding"), tenant_id)
    return None if found is None else TenantStatus(found)


async def hold(tx: Tx, tenant_id: UUID, after: TenantStatus, before: Sequence[TenantStatus]) -> bool:
    """Change the status of a tenant; False when it has none of the expected statuses, or its shard is moving."""
    args = (shard_in(tenant_id), tenant_id, after, before, tx.now)
    return await tx.value(sql("tenants/tenants/hold"), *args) is not None


async def status(tx: Tx, tenant_id: UUID) -> TenantStatus | None:
    """The status of a tenant, from its home shard."""
    found = await tx.value(sql("tenants/tenants/status"), shard_in(tenant_id), tenant_id)
    return None if found is None else TenantStatus(found)


async def publish(tx: Tx, tenant_id: UUID) -> None:
    """Write the home cell's own copy of the tenant that was just changed."""
    await tx.run(sql("tenants/tenants/publish"), shard_in(tenant_id), tenant_id, tx.now)


async def removed(tx: Tx) -> list[Tenant]:
    """Removed tenants of this cell whose rows are still to be purged."""
    return [_tenant(row) for row in await tx.rows(sql("tenants/tenants/removed"))]


async def lately_purged(tx: Tx, since: datetime, until: datetime) -> list[Tenant]:
    """Tenants of this cell that were purged in a span of time."""
    return [_tenant(row) for row in await tx.rows(sql("tenants/tenants/lately_purged"), since, until)]


async def purged_since(tx: Tx, since: datetime) -> dict[UUID, datetime]:
    """Tenants of this cell that were purged since a time, and when."""
    return {row["id"]: row["purged_at"] for row in await tx.rows(sql("tenants/tenants/purged_since"), since)}


async def mark_purged(tx: Tx, tenant_id: UUID) -> bool:
    """Record that no row of a tenant is left; False when that was recorded already."""
    return await tx.value(sql("tenants/tenants/mark_purged"), shard_in(tenant_id), tenant_id, tx.now) is not None


async def placements(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, Placement]:
    """The placement of the rolling sets of tenants, as far as this cell has copies of them."""
    rows = await tx.rows(sql("tenants/tenants/placements"), ids)
    return {row["id"]: next(iter(_former(row)), Placement(Layout(row["layout"]), row["width"])) for row in rows}


async def widen(tx: Tx, tenant: Tenant) -> bool:
    """Write the new placement of a tenant; False: it was widened or removed in the meantime, or its shard is moving."""
    args = (shard_in(tenant.id), tenant.id, tenant.width, tenant.layout, tenant.former)
    return await tx.value(sql("tenants/tenants/widen"), *args) is not None


async def allowances(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, Allowance]:
    """The allowances of tenants, from this cell's copies; a tenant without a readable copy is missing."""
    found = read_rows("allowance", await tx.rows(sql("tenants/tenants/allowances"), ids), _allowance)
    return {row["id"]: allowance for row, allowance in found}


def _allowance(row: asyncpg.Record) -> Allowance:
    return msgspec.convert(row["allowance"], Allowance) if row["allowance"] else NO_ALLOWANCE


async def named(tx: Tx, ids: Sequence[UUID]) -> list[Tenant]:
    """The given tenants whose home is this cell and that are not removed."""
    return [_tenant(row) for row in await tx.rows(sql("tenants/tenants/named"), ids)]


def _standing(status: str) -> TenantStatus:
    """The status of a tenant. A status that only a newer release knows counts as PAUSED."""
    try:
        return TenantStatus(status)
    except ValueError:
        log.error("tenant.status_unknown", status=status)
        return TenantStatus.PAUSED


def _tenant(row: asyncpg.Record) -> Tenant:
    return Tenant(row["id"], row["name"], row["width"], row["zone"], Layout(row["layout"]), _former(row))


def _former(row: asyncpg.Record) -> tuple[Placement, ...]:
    return tuple(Placement(Layout(layout), width) for layout, width in row["former"])
