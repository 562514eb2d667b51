"""Channels: at home in their tenant's home shard, with the same row as a copy in every other cell."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import asyncpg

from horae.domain.channels import Channel
from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx


async def put(tx: Tx, tenant_id: UUID, kind: str, name: str, id_: UUID, body: object, actor: str) -> Channel | None:
    """Write what a channel says now; None when the shard is closed."""
    args = (shard_in(tenant_id), tenant_id, kind, name, id_, body, actor, tx.now)
    row = await tx.row(sql("channels/put"), *args)
    return None if row is None else Channel(*row)


async def remove(tx: Tx, tenant_id: UUID, kind: str, name: str, actor: str) -> Channel | None:
    """Take a channel away; None when there is none."""
    row = await tx.row(sql("channels/remove"), shard_in(tenant_id), tenant_id, kind, name, actor, tx.now)
    return None if row is None else Channel(*row)


async def touch(tx: Tx, tenant_id: UUID, kind: str, name: str, actor: str) -> Channel | None:
    """Remember that someone did something with a channel that left it as it is; None when there is none."""
    row = await tx.row(sql("channels/touch"), shard_in(tenant_id), tenant_id, kind, name, actor, tx.now)
    return None if row is None else Channel(*row)


async def pause(tx: Tx, tenant_id: UUID, kind: str, name: str, actor: str, *, paused: bool) -> Channel | None:
    """Stop a channel, or let it go on; None when there is none."""
    row = await tx.row(sql("channels/pause"), shard_in(tenant_id), tenant_id, kind, name, actor, tx.now, paused)
    return None if row is None else Channel(*row)


async def find(tx: Tx, tenant_id: UUID, kind: str, name: str) -> Channel | None:
    """A channel by its name."""
    row = await tx.row(sql("channels/find"), shard_in(tenant_id), tenant_id, kind, name)
    return None if row is None else Channel(*row)


async def page(tx: Tx, tenant_id: UUID, kind: str, after: str, limit: int) -> list[Channel]:
    """A tenant's channels of a kind by name."""
    rows = await tx.rows(sql("channels/page"), shard_in(tenant_id), tenant_id, kind, after, limit)
    return [Channel(*row) for row in rows]


async def standing(tx: Tx, kind: str) -> list[Channel]:
    """Everybody's channels of a kind that are not paused, as this cell knows them."""
    return [Channel(*row) for row in await tx.rows(sql("channels/standing"), kind)]


async def changed(tx: Tx, at: datetime, limit: int) -> list[asyncpg.Record]:
    """What changed at home here since a time, the oldest change first, as rows for `copy`; at least `limit`."""
    return await tx.rows(sql("channels/changed"), at, limit)


async def copy(tx: Tx, rows: Sequence[asyncpg.Record]) -> int:
    """Write copies where they are newer than what is there; returns how many were."""
    return len(await tx.rows(sql("channels/copy"), [dict(row) for row in rows]))


async def removed(tx: Tx, before: datetime, limit: int) -> list[asyncpg.Record]:
    """The channels at home here that were removed before a time, oldest first, as rows for `copy`."""
    return await tx.rows(sql("channels/removed"), before, limit)


async def forget(tx: Tx, before: datetime, *, at_home: bool) -> int:
    """Delete the rows of channels that were removed before a time, at home here or copied; returns how many."""
    return len(await tx.rows(sql("channels/forget"), before, at_home))
