"""Buckets and holds of shared limits: one short transaction per round, over many limit keys of one cell.

The bucket's row is locked during a round, so only one node at a time decides what all nodes hold together.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from horae.domain.limits.limits import Bucket, Key, Limit, LimitHolder
from horae.store.statements import sql
from horae.store.tx import Tx


class Row(NamedTuple):
    """What a round writes for a limit key: its bucket, and this node's hold."""

    key: Key
    bucket: Bucket
    mine: LimitHolder


async def lock(tx: Tx, keys: Sequence[Key]) -> dict[Key, Bucket]:
    """The buckets of these keys, locked until the transaction ends; a key without a bucket is missing."""
    rows = await tx.rows(sql("limits/quotas/lock"), *_columns(keys))
    return {
        Key(row["tenant_id"], row["key"]): Bucket(row["tokens"], row["refilled_at"], row["granted"]) for row in rows
    }


async def create(tx: Tx, buckets: Iterable[tuple[Key, float]]) -> None:
    """Insert the buckets of new keys, each with its number of tokens."""
    keys, tokens = zip(*buckets, strict=True)
    await tx.run(sql("limits/quotas/create"), *_columns(keys), tokens, tx.now)


async def spend(tx: Tx, key: Key, many: float, limit: Limit) -> bool:
    """Take tokens out of a bucket, which is full if it is new; False when there are too few tokens."""
    args = (key.shard, key.tenant_id, key.name, many, tx.now, limit.rate or 0.0, limit.depth)
    return await tx.value(sql("limits/quotas/spend"), *args) is not None


async def left_in(tx: Tx, key: Key, limit: Limit) -> float:
    """The tokens that a bucket has now; a bucket that was never used is full."""
    args = (key.shard, key.tenant_id, key.name, tx.now, limit.rate or 0.0, limit.depth)
    found = await tx.value(sql("limits/quotas/left_in"), *args)
    return limit.depth if found is None else float(found)


async def permits(tx: Tx, keys: Sequence[Key]) -> dict[str, int]:
    """How many permits all living nodes hold of these keys, by the name of the key; keys without any are missing."""
    rows = await tx.rows(sql("limits/quotas/permits"), *_columns(keys), tx.now)
    return {row["key"]: row["held"] for row in rows}


async def holders(tx: Tx, keys: Sequence[Key]) -> dict[Key, list[LimitHolder]]:
    """The nodes that hold or want something of these keys and whose rows have not expired."""
    found: dict[Key, list[LimitHolder]] = defaultdict(list)
    for row in await tx.rows(sql("limits/quotas/holders"), *_columns(keys), tx.now):
        _, tenant_id, name, *facts = row
        found[Key(tenant_id, name)].append(LimitHolder(*facts))
    return found


async def write(tx: Tx, incarnation: UUID, rows: Sequence[Row], life: timedelta) -> set[Key]:
    """Write the result of a round; this node's hold expires after `life`. Returns the keys whose shard is open here."""
    columns = (
        [row.bucket.tokens for row in rows],
        [row.bucket.refilled_at for row in rows],
        [row.mine.held for row in rows],
        [row.mine.wanted for row in rows],
        [row.mine.asked for row in rows],
        [row.mine.served_at for row in rows],
        [f"{{{','.join(map(str, row.bucket.granted))}}}" for row in rows],  # unnest needs arrays of equal length
    )
    keys = _columns([row.key for row in rows])
    written = await tx.rows(sql("limits/quotas/write"), *keys, *columns, incarnation, tx.now, tx.now + life)
    return {Key(row["tenant_id"], row["key"]) for row in written}


def _columns(keys: Sequence[Key]) -> tuple[list[int], list[UUID], list[str]]:
    return [key.shard for key in keys], [key.tenant_id for key in keys], [key.name for key in keys]


async def forget(tx: Tx, before: datetime, limit: int) -> int:
    """Delete the buckets of keys that nobody has used since a time, at most `limit`; returns how many."""
    return len(await tx.rows(sql("limits/quotas/forget"), before, tx.now, limit))
