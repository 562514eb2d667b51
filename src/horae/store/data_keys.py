"""Wrapped data keys: at home in their tenant's home shard, with the same row as a copy in every other cell."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx


class Wrapped(NamedTuple):
    """One key as its row has it."""

    shard: int
    tenant_id: UUID
    version: int
    wrapped: str


class Unwalked(NamedTuple):
    """A tenant's newest key whose live rows still have to be walked."""

    tenant_id: UUID
    version: int
    created_at: datetime


FIRST: Final = Wrapped(-1, UUID(int=0), 0, "")
FIRST_UNWALKED: Final = Unwalked(UUID(int=0), 0, datetime(1970, 1, 1, tzinfo=UTC))


async def create(tx: Tx, tenant_id: UUID, version: int, wrapped: str) -> bool:
    """Write a new key; False when the tenant has that version already, or its shard is closed."""
    args = (shard_in(tenant_id), tenant_id, version, wrapped, tx.now)
    return await tx.value(sql("data_keys/create"), *args) is not None


async def of_tenant(tx: Tx, tenant_id: UUID) -> dict[int, str]:
    """All keys of a tenant by version, as this cell has them."""
    rows = await tx.rows(sql("data_keys/of_tenant"), shard_in(tenant_id), tenant_id)
    return {row["version"]: row["wrapped"] for row in rows}


async def changed(tx: Tx, since: datetime, limit: int) -> list[asyncpg.Record]:
    """What changed at home here since a time, the oldest change first, as rows for `copy`; at least `limit`."""
    return await tx.rows(sql("data_keys/changed"), since, limit)


async def copy(tx: Tx, rows: Sequence[asyncpg.Record]) -> int:
    """Write copies where they are newer than what is there; returns how many were."""
    return len(await tx.rows(sql("data_keys/copy"), [dict(row) for row in rows]))


async def page(tx: Tx, after: Wrapped, limit: int) -> list[Wrapped]:
    """Keys that are at home in this cell, in a fixed order."""
    return [Wrapped(*row) for row in await tx.rows(sql("data_keys/page"), *after[:3], limit)]


async def rewrap(tx: Tx, key: Wrapped, wrapped: str) -> bool:
    """Write the same key as another key-encryption key wraps it; False when it is not as it was read."""
    return await tx.value(sql("data_keys/rewrap"), *key, wrapped, tx.now) is not None


async def unwalked(tx: Tx, before: datetime, after: Unwalked, limit: int) -> list[Unwalked]:
    """Tenants at home here whose newest key was made before a time, and whose live rows still have to be walked."""
    args = (before, limit, after.created_at, after.tenant_id)
    return [Unwalked(*row) for row in await tx.rows(sql("data_keys/unwalked"), *args)]


async def walked(tx: Tx, tenant_id: UUID, version: int) -> bool:
    """Remember that no live row of a tenant is older than this version of its key."""
    args = (shard_in(tenant_id), tenant_id, version, tx.now)
    return await tx.value(sql("data_keys/walked"), *args) is not None
