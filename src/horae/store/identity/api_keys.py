"""API keys. The row is in the tenant's home shard, and every other cell has a copy."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import asyncpg

from horae.domain.identity.principals import ApiKey
from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx


async def create(tx: Tx, key: ApiKey) -> bool:
    """Insert a new key; False when a key that is not revoked has its name, or the shard is closed."""
    labels = key.job_labels or None
    who = (shard_in(key.id), key.id, key.tenant_id, key.name, key.digest)
    args = (*who, key.scopes, labels, key.created_by, key.expires_at)
    return await tx.value(sql("identity/api_keys/create"), *args, tx.now) is not None


async def find(tx: Tx, id_: UUID) -> ApiKey | None:
    """The key with that id, in any state."""
    row = await tx.row(sql("identity/api_keys/find"), shard_in(id_), id_)
    return None if row is None else _key(row)


async def page(tx: Tx, tenant_id: UUID, after: UUID, limit: int) -> list[ApiKey]:
    """The keys of a tenant, oldest first."""
    return [_key(row) for row in await tx.rows(sql("identity/api_keys/page"), tenant_id, after, limit)]


async def revoke(tx: Tx, tenant_id: UUID, id_: UUID) -> ApiKey | None:
    """Revoke a key; None when there is no such key."""
    row = await tx.row(sql("identity/api_keys/revoke"), shard_in(id_), id_, tenant_id, tx.now)
    return None if row is None else _key(row)


async def touch(tx: Tx, id_: UUID) -> None:
    """Record that a key was used. At most one write a minute."""
    await tx.run(sql("identity/api_keys/touch"), shard_in(id_), id_, tx.now)


async def changed(tx: Tx, since: datetime, limit: int) -> list[asyncpg.Record]:
    """The keys of this cell's own shards that changed since a time, oldest change first, as rows for `copy`.

    Changes of the same moment stay together, so there may be more rows than `limit`.
    """
    return await tx.rows(sql("identity/api_keys/changed"), since, limit)


async def copy(tx: Tx, rows: Sequence[asyncpg.Record]) -> int:
    """Write the copies that are newer than the stored ones; returns how many."""
    given = [{**row, "digest": _text_of(row["digest"])} for row in rows]
    return len(await tx.rows(sql("identity/api_keys/copy"), given))


async def removed(tx: Tx, before: datetime, limit: int) -> list[asyncpg.Record]:
    """The keys of this cell's own shards that were revoked before a time, oldest first, as rows for `copy`."""
    return await tx.rows(sql("identity/api_keys/removed"), before, limit)


async def forget(tx: Tx, before: datetime, *, at_home: bool) -> int:
    """Delete keys that were revoked before a time: own rows (`at_home`) or copies; returns how many."""
    return len(await tx.rows(sql("identity/api_keys/forget"), before, at_home))


def _text_of(digest: bytes | str) -> str:
    """Bytes as JSON has them; they stay as they are if they come from JSON."""
    return digest if isinstance(digest, str) else f"\\x{digest.hex()}"


def _key(row: asyncpg.Record) -> ApiKey:
    return ApiKey(**{**row, "scopes": tuple(row["scopes"]), "job_labels": row["job_labels"] or {}})
