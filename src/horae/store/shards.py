"""Which shards are open in this cell. A shard is open in at most one."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx


class ShardRow(NamedTuple):
    """A shard as people look at it: in which state and epoch, and who leases it."""

    shard: int
    state: str
    epoch: int
    owner: UUID | None
    node: str | None
    seen_at: datetime | None
    alive: bool


async def active(tx: Tx) -> list[int]:
    """The shards this cell holds."""
    return [row["shard_id"] for row in await tx.rows(sql("shards/active"))]


async def listing(tx: Tx, after: int, limit: int) -> list[ShardRow]:
    """Shards of this cell after one, with their leases."""
    return [ShardRow(*row) for row in await tx.rows(sql("shards/listing"), tx.now, after, limit)]


async def activate(tx: Tx, shards: Sequence[int]) -> None:
    """Open shards in this cell; only right when no other cell holds them."""
    await tx.run(sql("shards/activate"), shards)


async def freeze(tx: Tx, shards: Sequence[int]) -> None:
    """Close shards: from this commit on no transaction that begins may write for them."""
    await tx.run(sql("shards/freeze"), shards)
