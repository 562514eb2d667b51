"""Tenants, in their home shard."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.ids import shard_in
from horae.domain.placement import Layout, Placement
from horae.domain.tenants import NO_ALLOWANCE, Allowance, Standing, Tenant
from horae.runtime.telemetry import log
from horae.store.reading import read_rows
from horae.store.statements import sql
from horae.store.tx import Tx


class Held(NamedTuple):
    """A tenant that is held, or was until a time."""

    id: UUID
    standing: Standing
    until: datetime | None

    @property
    def held(self) -> bool:
        """Whether its rows are to be left alone."""
        return self.standing != Standing.ACTIVE


async def create(tx: Tx, tenant: Tenant) -> bool:
    """Write a new tenant; False when the name is taken or its shard is closed."""
    shard = shard_in(tenant.id)
    args = (shard, tenant.id, tenant.name, tenant.width, tenant.zone, tx.now, tenant.layout)
    return await tx.value(sql("tenants/create"), *args) is not None


async def find(tx: Tx, shard: int, name: str) -> Tenant | None:
    """The tenant of that name, at home."""
    row = await tx.row(sql("tenants/find"), shard, name)
    return None if row is None else _tenant(row)


async def copied(tx: Tx, name: str) -> Tenant | None:
    """The tenant of that name, as this cell's copy has it."""
    row = await tx.row(sql("tenants/copied"), name)
    return None if row is None else _tenant(row)


async def page(tx: Tx, after: str, limit: int) -> list[tuple[Tenant, Allowance]]:
    """The tenants that are at home in this cell, by name."""
    rows = await tx.rows(sql("tenants/page"), after, limit)
    return [(_tenant(row), msgspec.convert(row["allowance"], Allowance)) for row in rows]


async def known(tx: Tx, id_: UUID) -> tuple[Tenant, Allowance] | None:
    """A tenant by its id, as this cell's copy has it."""
    row = await tx.row(sql("tenants/known"), id_)
    return None if row is None else (_tenant(row), msgspec.convert(row["allowance"] or {}, Allowance))


async def allow(tx: Tx, shard: int, name: str, allowance: Allowance) -> Tenant | None:
    """Write what a tenant may use; None when there is no such tenant at home here, or its shard is moving."""
    row = await tx.row(sql("tenants/allow"), shard, name, allowance)
    return None if row is None else _tenant(row)


async def lock_allowance(tx: Tx, shard: int, name: str) -> Allowance | None:
    """What a tenant may use, at home; nobody else changes it before this transaction ends. None: no such tenant."""
    row = await tx.row(sql("tenants/lock_allowance"), shard, name)
    return None if row is None else msgspec.convert(row["allowance"] or {}, Allowance)


async def held(tx: Tx) -> list[Held]:
    """Tenants that are held, or were, as this cell's copies say."""
    return [Held(row["id"], _standing(row["status"]), row["until"]) for row in await tx.rows(sql("tenants/held"))]


async def holding(tx: Tx, tenant_id: UUID) -> Standing | None:
    """Why a tenant is held, as this cell's copy says; None when it is not."""
    found = await tx.value(sql("tenants/holding"), tenant_id)
    return None if found is None else Standing(found)


async def hold(tx: Tx, tenant_id: UUID, after: Standing, before: Sequence[Standing]) -> bool:
    """Let a tenant stand otherwise; False when it does not stand as it should, or its shard is moving."""
    args = (shard_in(tenant_id), tenant_id, after, before, tx.now)
    return await tx.value(sql("tenants/hold"), *args) is not None


async def status(tx: Tx, tenant_id: UUID) -> Standing | None:
    """How it stands with a tenant, at home."""
    found = await tx.value(sql("tenants/status"), shard_in(tenant_id), tenant_id)
    return None if found is None else Standing(found)


async def publish(tx: Tx, tenant_id: UUID) -> None:
    """Write the home's own copy of what was just changed."""
    await tx.run(sql("tenants/publish"), shard_in(tenant_id), tenant_id, tx.now)


async def removed(tx: Tx) -> list[Tenant]:
    """Tenants at home in this cell whose rows are still to be purged."""
    return [_tenant(row) for row in await tx.rows(sql("tenants/removed"))]


async def lately_purged(tx: Tx, since: datetime, until: datetime) -> list[Tenant]:
    """Tenants at home in this cell that were purged in a span of time."""
    return [_tenant(row) for row in await tx.rows(sql("tenants/lately_purged"), since, until)]


async def purged(tx: Tx, tenant_id: UUID) -> bool:
    """Nothing of it is left; False when that was told already."""
    return await tx.value(sql("tenants/purged"), shard_in(tenant_id), tenant_id, tx.now) is not None


async def placements(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, Placement]:
    """Where the rolling sets of tenants lie, as far as this cell has heard of them."""
    rows = await tx.rows(sql("tenants/placements"), ids)
    return {row["id"]: next(iter(_former(row)), Placement(Layout(row["layout"]), row["width"])) for row in rows}


async def widen(tx: Tx, tenant: Tenant) -> bool:
    """Write where a tenant makes its rows from now on; False: it was widened or removed meanwhile, or is moving."""
    args = (shard_in(tenant.id), tenant.id, tenant.width, tenant.layout, tenant.former)
    return await tx.value(sql("tenants/widen"), *args) is not None


async def allowances(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, Allowance]:
    """What tenants may use, as this cell's copies say; missing where it has none that can be read."""
    found = read_rows("allowance", await tx.rows(sql("tenants/allowances"), ids), _allowance)
    return {row["id"]: allowance for row, allowance in found}


def _allowance(row: asyncpg.Record) -> Allowance:
    return msgspec.convert(row["allowance"], Allowance) if row["allowance"] else NO_ALLOWANCE


async def named(tx: Tx, ids: Sequence[UUID]) -> list[Tenant]:
    """Of these tenants those that are at home in this cell and stand."""
    return [_tenant(row) for row in await tx.rows(sql("tenants/named"), ids)]


def _standing(status: str) -> Standing:
    """How a tenant stands; one for which a newer release has a word that this one has not is left alone."""
    try:
        return Standing(status)
    except ValueError:
        log.error("tenant.standing_unknown", status=status)
        return Standing.PAUSED


def _tenant(row: asyncpg.Record) -> Tenant:
    return Tenant(row["id"], row["name"], row["width"], row["zone"], Layout(row["layout"]), _former(row))


def _former(row: asyncpg.Record) -> tuple[Placement, ...]:
    return tuple(Placement(Layout(layout), width) for layout, width in row["former"])
