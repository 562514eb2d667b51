"""API keys: at home in their tenant's home shard, with the same row as a copy in every other cell."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import asyncpg

from horae.domain.identity import ApiKey
from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx


async def create(tx: Tx, key: ApiKey) -> bool:
    """Write a new key; False when a living one has its name, or the shard is closed."""
    args = (shard_in(key.id), key.id, key.tenant_id, key.name, key.digest, key.scopes, key.created_by, key.expires_at)
    return await tx.value(sql("keys/create"), *args, tx.now) is not None


async def find(tx: Tx, id_: UUID) -> ApiKey | None:
    """The key with that id, whatever became of it."""
    row = await tx.row(sql("keys/find"), shard_in(id_), id_)
    return None if row is None else _key(row)


async def page(tx: Tx, tenant_id: UUID, after: UUID, limit: int) -> list[ApiKey]:
    """The keys of a tenant, oldest first."""
    return [_key(row) for row in await tx.rows(sql("keys/page"), tenant_id, after, limit)]


async def revoke(tx: Tx, tenant_id: UUID, id_: UUID) -> ApiKey | None:
    """Close a key for ever; None when there is none to close."""
    row = await tx.row(sql("keys/revoke"), shard_in(id_), id_, tenant_id, tx.now)
    return None if row is None else _key(row)


async def touch(tx: Tx, id_: UUID) -> None:
    """Note that a key was used, to the minute."""
    await tx.run(sql("keys/touch"), shard_in(id_), id_, tx.now)


async def changed(tx: Tx, since: datetime, limit: int) -> list[asyncpg.Record]:
    """What changed at home here since a time, the oldest change first, as rows for `copy`; at least `limit`."""
    return await tx.rows(sql("keys/changed"), since, limit)


async def copy(tx: Tx, rows: Sequence[asyncpg.Record]) -> int:
    """Write copies where they are newer than what is there; returns how many were."""
    return len(await tx.rows(sql("keys/copy"), [{**row, "digest": f"\\x{row['digest'].hex()}"} for row in rows]))


async def removed(tx: Tx, before: datetime, limit: int) -> list[asyncpg.Record]:
    """The keys at home here that were revoked before a time, oldest first, as rows for `copy`."""
    return await tx.rows(sql("keys/removed"), before, limit)


async def forget(tx: Tx, before: datetime, *, at_home: bool) -> int:
    """Delete the keys that were revoked before a time, at home here or copied; returns how many."""
    return len(await tx.rows(sql("keys/forget"), before, at_home))


def _key(row: asyncpg.Record) -> ApiKey:
    return ApiKey(**{**row, "scopes": tuple(row["scopes"])})
