"""Channels (subscriptions and intakes). The row is in the tenant's home shard, and every other cell has a copy."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import asyncpg

from horae.domain.events.channels import Channel
from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx


async def put(tx: Tx, tenant_id: UUID, kind: str, name: str, id_: UUID, body: object, actor: str) -> Channel | None:
    """Insert or replace a channel; None when the shard is closed."""
    args = (shard_in(tenant_id), tenant_id, kind, name, id_, body, actor, tx.now)
    row = await tx.row(sql("events/channels/put"), *args)
    return None if row is None else Channel(*row)


async def remove(tx: Tx, tenant_id: UUID, kind: str, name: str, actor: str) -> Channel | None:
    """Remove a channel; None when there is none."""
    row = await tx.row(sql("events/channels/remove"), shard_in(tenant_id), tenant_id, kind, name, actor, tx.now)
    return None if row is None else Channel(*row)


async def touch(tx: Tx, tenant_id: UUID, kind: str, name: str, actor: str) -> Channel | None:
    """Record who did something with a channel that did not change its body; None when there is none."""
    row = await tx.row(sql("events/channels/touch"), shard_in(tenant_id), tenant_id, kind, name, actor, tx.now)
    return None if row is None else Channel(*row)


async def pause(tx: Tx, tenant_id: UUID, kind: str, name: str, actor: str, *, paused: bool) -> Channel | None:
    """Pause or resume a channel; None when there is none."""
    row = await tx.row(sql("events/channels/pause"), shard_in(tenant_id), tenant_id, kind, name, actor, tx.now, paused)
    return None if row is None else Channel(*row)


async def find(tx: Tx, tenant_id: UUID, kind: str, name: str) -> Channel | None:
    """A channel by its name."""
    row = await tx.row(sql("events/channels/find"), shard_in(tenant_id), tenant_id, kind, name)
    return None if row is None else Channel(*row)


async def page(tx: Tx, tenant_id: UUID, kind: str, after: str, limit: int) -> list[Channel]:
    """A tenant's channels of a kind by name."""
    rows = await tx.rows(sql("events/channels/page"), shard_in(tenant_id), tenant_id, kind, after, limit)
    return [Channel(*row) for row in rows]


async def active(tx: Tx, kind: str) -> list[Channel]:
    """All tenants' channels of a kind that are not paused, as this cell knows them."""
    return [Channel(*row) for row in await tx.rows(sql("events/channels/active"), kind)]


async def changed(tx: Tx, at: datetime, limit: int) -> list[asyncpg.Record]:
    """The channels of this cell's own shards that changed since a time, oldest change first, as rows for `copy`.

    Changes of the same moment stay together, so there may be more rows than `limit`.
    """
    return await tx.rows(sql("events/channels/changed"), at, limit)


async def copy(tx: Tx, rows: Sequence[asyncpg.Record]) -> int:
    """Write the copies that are newer than the stored ones; returns how many."""
    return len(await tx.rows(sql("events/channels/copy"), [dict(row) for row in rows]))


async def removed(tx: Tx, before: datetime, limit: int) -> list[asyncpg.Record]:
    """The channels of this cell's own shards that were removed before a time, oldest first, as rows for `copy`."""
    return await tx.rows(sql("events/channels/removed"), before, limit)


async def forget(tx: Tx, before: datetime, *, at_home: bool) -> int:
    """Delete channels that were removed before a time: own rows (`at_home`) or copies; returns how many."""
    return len(await tx.rows(sql("events/channels/forget"), before, at_home))
