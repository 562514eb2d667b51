"""The shards that are open in this cell. A shard is open in at most one cell."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx


class ShardRow(NamedTuple):
    """A shard as lists show it: state, epoch and the node that leases it."""

    shard: int
    state: str
    epoch: int
    owner: UUID | None
    node: str | None
    seen_at: datetime | None
    alive: bool


class KnownShards(NamedTuple):
    """The shards that are open in a cell, and those that have ever left it."""

    active: frozenset[int]
    left: frozenset[int]


async def known_here(tx: Tx) -> KnownShards:
    """The shards that are open in this cell, and those that have ever left it, by one statement."""
    rows = await tx.rows(sql("nodes/shards/known_here"))
    return KnownShards(
        frozenset(row["shard_id"] for row in rows if row["is_active"]),
        frozenset(row["shard_id"] for row in rows if not row["is_active"]),
    )


async def active(tx: Tx) -> list[int]:
    """The shards this cell holds."""
    return [row["shard_id"] for row in await tx.rows(sql("nodes/shards/active"))]


async def listing(tx: Tx, after: int, limit: int) -> list[ShardRow]:
    """The shards of this cell after a number, with their leases."""
    return [ShardRow(*row) for row in await tx.rows(sql("nodes/shards/listing"), tx.now, after, limit)]


async def unheld(tx: Tx) -> int:
    """How many open shards of this cell no living node holds."""
    return int(await tx.value(sql("nodes/shards/unheld"), tx.now) or 0)


async def activate(tx: Tx, shards: Sequence[int]) -> None:
    """Open shards in this cell. Call it only if no other cell holds them."""
    await tx.run(sql("nodes/shards/activate"), shards)


async def freeze(tx: Tx, shards: Sequence[int]) -> None:
    """Close shards: after this commit, no new transaction may write to them."""
    await tx.run(sql("nodes/shards/freeze"), shards)
