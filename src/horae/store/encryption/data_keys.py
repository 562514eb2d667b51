"""Wrapped data keys. The row is in the tenant's home shard, and every other cell has a copy."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx


class WrappedKey(NamedTuple):
    """One data key as stored."""

    shard: int
    tenant_id: UUID
    version: int
    wrapped: str


class UnwalkedKey(NamedTuple):
    """A tenant's newest data key with which the live rows still have to be encrypted again."""

    tenant_id: UUID
    version: int
    created_at: datetime


FIRST: Final = WrappedKey(-1, UUID(int=0), 0, "")
FIRST_UNWALKED: Final = UnwalkedKey(UUID(int=0), 0, datetime(1970, 1, 1, tzinfo=UTC))


class WrappingUse(NamedTuple):
    """How many data keys are wrapped by a key, and when any data key was last wrapped by another key than before."""

    wrapped: int
    rewrapped_at: datetime | None


async def create(tx: Tx, tenant_id: UUID, version: int, wrapped: str) -> bool:
    """Insert a data key; False when the tenant has that version already, or its shard is closed."""
    args = (shard_in(tenant_id), tenant_id, version, wrapped, tx.now)
    return await tx.value(sql("encryption/data_keys/create"), *args) is not None


async def of_tenant(tx: Tx, tenant_id: UUID) -> dict[int, str]:
    """All data keys of a tenant by version, as this cell has them."""
    rows = await tx.rows(sql("encryption/data_keys/of_tenant"), shard_in(tenant_id), tenant_id)
    return {row["version"]: row["wrapped"] for row in rows}


async def changed(tx: Tx, since: datetime, limit: int) -> list[asyncpg.Record]:
    """The data keys of this cell's own shards that changed since a time, oldest change first, as rows for `copy`.

    Changes of the same moment stay together, so there may be more rows than `limit`.
    """
    return await tx.rows(sql("encryption/data_keys/changed"), since, limit)


async def copy(tx: Tx, rows: Sequence[asyncpg.Record]) -> int:
    """Write the copies that are newer than the stored ones; returns how many."""
    return len(await tx.rows(sql("encryption/data_keys/copy"), [dict(row) for row in rows]))


async def uses(tx: Tx, prefix: str) -> WrappingUse:
    """How many data keys of this cell, with its copies, a key-encryption key wraps; `prefix` begins their texts."""
    row = await tx.row(sql("encryption/data_keys/uses"), prefix)
    assert row is not None
    return WrappingUse(row["wrapped"], row["rewrapped_at"])


async def page(tx: Tx, after: WrappedKey, limit: int) -> list[WrappedKey]:
    """A page of the data keys whose home is this cell, in a fixed order."""
    return [WrappedKey(*row) for row in await tx.rows(sql("encryption/data_keys/page"), *after[:3], limit)]


async def rewrap(tx: Tx, key: WrappedKey, wrapped: str) -> bool:
    """Replace the wrapped form of a key by that of another key-encryption key; False when it has changed meanwhile."""
    return await tx.value(sql("encryption/data_keys/rewrap"), *key, wrapped, tx.now) is not None


async def unwalked(tx: Tx, before: datetime, after: UnwalkedKey, limit: int) -> list[UnwalkedKey]:
    """Tenants of this cell whose newest data key is older than a time and whose live rows were not walked since."""
    args = (before, limit, after.created_at, after.tenant_id)
    return [UnwalkedKey(*row) for row in await tx.rows(sql("encryption/data_keys/unwalked"), *args)]


async def mark_walked(tx: Tx, tenant_id: UUID, version: int) -> bool:
    """Record that no live row of a tenant uses a data key older than this version."""
    args = (shard_in(tenant_id), tenant_id, version, tx.now)
    return await tx.value(sql("encryption/data_keys/mark_walked"), *args) is not None
