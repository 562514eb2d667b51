"""Named secrets, sealed: at home in their tenant's home shard, with the same row as a copy in every other cell."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.ids import shard_in
from horae.domain.sealed import Sealed, read
from horae.domain.secrets import Secret
from horae.store.statements import sql
from horae.store.tx import Tx


class Kept(NamedTuple):
    """One secret as its row has it; without a value it was removed."""

    tenant_id: UUID
    name: str
    version: int
    sealed: Sealed | None
    hosts: tuple[str, ...]
    changed_at: datetime


async def hosts(tx: Tx, tenant_id: UUID, name: str) -> tuple[str, ...]:
    """The hosts that a secret is bound to; none where there is no such secret yet."""
    found = await tx.value(sql("secrets/hosts"), shard_in(tenant_id), tenant_id, name)
    return tuple(found or ())


async def put(
    tx: Tx, tenant_id: UUID, name: str, sealed: Sealed, actor: str, hosts: Sequence[str] = ()
) -> Secret | None:
    """Write a value in the place of the one before; None when the shard is closed."""
    own = (shard_in(tenant_id), tenant_id, name)
    row = await tx.row(sql("secrets/put"), *own, sealed, actor, tx.now, list(hosts))
    return None if row is None else _secret(row)


async def remove(tx: Tx, tenant_id: UUID, name: str, actor: str) -> Secret | None:
    """Take a value away; None when there is none."""
    row = await tx.row(sql("secrets/remove"), shard_in(tenant_id), tenant_id, name, actor, tx.now)
    return None if row is None else _secret(row)


async def page(tx: Tx, tenant_id: UUID, after: str, limit: int) -> list[Secret]:
    """The tenant's secrets by name, without their values."""
    return [_secret(row) for row in await tx.rows(sql("secrets/page"), shard_in(tenant_id), tenant_id, after, limit)]


async def of_tenant(tx: Tx, tenant_id: UUID) -> list[Kept]:
    """The secrets of a tenant that have a value, at its home."""
    return [_kept(row) for row in await tx.rows(sql("secrets/of_tenant"), shard_in(tenant_id), tenant_id)]


async def named(tx: Tx, wanted: Mapping[UUID, Sequence[str]]) -> list[Kept]:
    """The secrets of these names of each tenant, as this cell knows them; removed ones too."""
    names = [(shard_in(id_), id_, name) for id_, some in wanted.items() for name in some]
    return [_kept(row) for row in await tx.rows(sql("secrets/named"), *zip(*names, strict=True))]


async def since(tx: Tx, at: datetime) -> list[Kept]:
    """What changed since a time, as this cell knows it; removed ones too."""
    return [_kept(row) for row in await tx.rows(sql("secrets/since"), at)]


async def changed(tx: Tx, at: datetime, limit: int) -> list[asyncpg.Record]:
    """What changed at home here since a time, the oldest change first, as rows for `copy`; at least `limit`."""
    return await tx.rows(sql("secrets/changed"), at, limit)


async def copy(tx: Tx, rows: Sequence[asyncpg.Record]) -> int:
    """Write copies where they are newer than what is there; returns how many were."""
    return len(await tx.rows(sql("secrets/copy"), [dict(row) for row in rows]))


async def removed(tx: Tx, before: datetime, limit: int) -> list[asyncpg.Record]:
    """The secrets at home here that were removed before a time, oldest first, as rows for `copy`."""
    return await tx.rows(sql("secrets/removed"), before, limit)


async def forget(tx: Tx, before: datetime, *, at_home: bool) -> int:
    """Delete the rows of secrets that were removed before a time, at home here or copied; returns how many."""
    return len(await tx.rows(sql("secrets/forget"), before, at_home))


async def reseal(tx: Tx, kept: Kept, sealed: Sealed) -> bool:
    """Write the same value as another key seals it; False when it is not as it was read."""
    args = (shard_in(kept.tenant_id), kept.tenant_id, kept.name, kept.version, sealed, tx.now)
    return await tx.value(sql("secrets/reseal"), *args) is not None


def _secret(row: asyncpg.Record) -> Secret:
    return Secret(row["name"], row["version"], row["changed_at"], row["changed_by"], tuple(row["hosts"]))


def _kept(row: asyncpg.Record) -> Kept:
    sealed, hosts = read(row["sealed"]), tuple(row["hosts"])
    return Kept(row["tenant_id"], row["name"], row["version"], sealed, hosts, row["changed_at"])
