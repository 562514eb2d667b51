"""Named secrets, encrypted. The row is in the tenant's home shard, and every other cell has a copy."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.encryption.encrypted_values import EncryptedValue, read
from horae.domain.encryption.secrets import Secret
from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx


class SecretRow(NamedTuple):
    """One secret as stored. `encrypted` is None after it was removed."""

    tenant_id: UUID
    name: str
    version: int
    encrypted: EncryptedValue | None
    hosts: tuple[str, ...]
    changed_at: datetime


async def hosts(tx: Tx, tenant_id: UUID, name: str) -> tuple[str, ...]:
    """The hosts that a secret is bound to; empty if there is no such secret."""
    found = await tx.value(sql("encryption/secrets/hosts"), shard_in(tenant_id), tenant_id, name)
    return tuple(found or ())


async def put(
    tx: Tx, tenant_id: UUID, name: str, encrypted: EncryptedValue, actor: str, hosts: Sequence[str] = ()
) -> Secret | None:
    """Insert or replace a value; None when the shard is closed."""
    own = (shard_in(tenant_id), tenant_id, name)
    row = await tx.row(sql("encryption/secrets/put"), *own, encrypted, actor, tx.now, list(hosts))
    return None if row is None else _secret(row)


async def remove(tx: Tx, tenant_id: UUID, name: str, actor: str) -> Secret | None:
    """Remove a value; None when there is none."""
    row = await tx.row(sql("encryption/secrets/remove"), shard_in(tenant_id), tenant_id, name, actor, tx.now)
    return None if row is None else _secret(row)


async def page(tx: Tx, tenant_id: UUID, after: str, limit: int) -> list[Secret]:
    """The tenant's secrets by name, without their values."""
    return [
        _secret(row)
        for row in await tx.rows(sql("encryption/secrets/page"), shard_in(tenant_id), tenant_id, after, limit)
    ]


async def of_tenant(tx: Tx, tenant_id: UUID) -> list[SecretRow]:
    """The secrets of a tenant that have a value, from its home shard."""
    return [
        _secret_row(row) for row in await tx.rows(sql("encryption/secrets/of_tenant"), shard_in(tenant_id), tenant_id)
    ]


async def named(tx: Tx, wanted: Mapping[UUID, Sequence[str]]) -> list[SecretRow]:
    """The secrets with these names of each tenant, as this cell has them, including removed ones."""
    names = [(shard_in(id_), id_, name) for id_, some in wanted.items() for name in some]
    return [_secret_row(row) for row in await tx.rows(sql("encryption/secrets/named"), *zip(*names, strict=True))]


async def since(tx: Tx, at: datetime) -> list[SecretRow]:
    """The secrets that changed since a time, as this cell has them, including removed ones."""
    return [_secret_row(row) for row in await tx.rows(sql("encryption/secrets/since"), at)]


async def changed(tx: Tx, at: datetime, limit: int) -> list[asyncpg.Record]:
    """The secrets of this cell's own shards that changed since a time, oldest change first, as rows for `copy`.

    Changes of the same moment stay together, so there may be more rows than `limit`.
    """
    return await tx.rows(sql("encryption/secrets/changed"), at, limit)


async def copy(tx: Tx, rows: Sequence[asyncpg.Record]) -> int:
    """Write the copies that are newer than the stored ones; returns how many."""
    return len(await tx.rows(sql("encryption/secrets/copy"), [dict(row) for row in rows]))


async def removed(tx: Tx, before: datetime, limit: int) -> list[asyncpg.Record]:
    """The secrets of this cell's own shards that were removed before a time, oldest first, as rows for `copy`."""
    return await tx.rows(sql("encryption/secrets/removed"), before, limit)


async def forget(tx: Tx, before: datetime, *, at_home: bool) -> int:
    """Delete secrets that were removed before a time: own rows (`at_home`) or copies; returns how many."""
    return len(await tx.rows(sql("encryption/secrets/forget"), before, at_home))


async def reencrypt(tx: Tx, kept: SecretRow, encrypted: EncryptedValue) -> bool:
    """Replace the ciphertext by that of another data key; False when the row has changed since it was read."""
    args = (shard_in(kept.tenant_id), kept.tenant_id, kept.name, kept.version, encrypted, tx.now)
    return await tx.value(sql("encryption/secrets/reencrypt"), *args) is not None


def _secret(row: asyncpg.Record) -> Secret:
    return Secret(row["name"], row["version"], row["changed_at"], row["changed_by"], tuple(row["hosts"]))


def _secret_row(row: asyncpg.Record) -> SecretRow:
    encrypted, hosts = read(row["sealed"]), tuple(row["hosts"])
    return SecretRow(row["tenant_id"], row["name"], row["version"], encrypted, hosts, row["changed_at"])
