"""Leases only save work; correctness lives in the rows they point at.

A node is an incarnation with a heartbeat; a shard names the incarnation that owns it. A shard whose owner has not
been seen in time is free to take, which raises its epoch.
"""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx


async def heartbeat(tx: Tx, incarnation: UUID, name: str, ttl: timedelta) -> None:
    """Say that this incarnation lives, for one more TTL."""
    await tx.run(sql("leases/heartbeat"), incarnation, name, tx.now, tx.now + ttl)


async def take(tx: Tx, incarnation: UUID, shards: Sequence[int]) -> dict[int, int]:
    """Take those shards whose owner is gone; returns all of the asked ones now held, with their epoch."""
    rows = await tx.rows(sql("leases/take"), incarnation, shards, tx.now)
    return {row["shard_id"]: row["epoch"] for row in rows}


async def release(tx: Tx, incarnation: UUID) -> int:
    """Hand everything back at once and say goodbye."""
    count = await tx.value(sql("leases/release"), incarnation)
    assert isinstance(count, int)
    return count


async def held(tx: Tx, shard: int) -> bool:
    """Whether a living node owns a shard."""
    return bool(await tx.value(sql("leases/held"), shard, tx.now))
