"""Buckets and holds of shared limits: one short transaction per round over many keys of one cell.

The bucket's row is locked for the length of a round, so what all nodes hold together is decided by one at a time.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from horae.domain.limits import Bucket, Holder, Key, Limit
from horae.store.statements import sql
from horae.store.tx import Tx


class Row(NamedTuple):
    """What is written for a key after a round: its bucket, and this node's hold."""

    key: Key
    bucket: Bucket
    mine: Holder


async def lock(tx: Tx, keys: Sequence[Key]) -> dict[Key, Bucket]:
    """The buckets of these keys, nobody else's until the end of the transaction; unknown ones are missing."""
    rows = await tx.rows(sql("quotas/lock"), *_columns(keys))
    return {
        Key(row["tenant_id"], row["key"]): Bucket(row["tokens"], row["refilled_at"], row["granted"]) for row in rows
    }


async def create(tx: Tx, buckets: Iterable[tuple[Key, float]]) -> None:
    """Make the buckets of keys that were never asked for, with so many tokens each."""
    keys, tokens = zip(*buckets, strict=True)
    await tx.run(sql("quotas/create"), *_columns(keys), tokens, tx.now)


async def spend(tx: Tx, key: Key, many: float, limit: Limit) -> bool:
    """Take tokens out of a bucket at once, a full one where there was none; False when there are not so many."""
    args = (key.shard, key.tenant_id, key.name, many, tx.now, limit.rate or 0.0, limit.depth)
    return await tx.value(sql("quotas/spend"), *args) is not None


async def holders(tx: Tx, keys: Sequence[Key]) -> dict[Key, list[Holder]]:
    """Who holds or wants what of these keys, as far as he has been heard of in time."""
    found: dict[Key, list[Holder]] = defaultdict(list)
    for row in await tx.rows(sql("quotas/holders"), *_columns(keys), tx.now):
        _, tenant_id, name, *facts = row
        found[Key(tenant_id, name)].append(Holder(*facts))
    return found


async def write(tx: Tx, incarnation: UUID, rows: Sequence[Row], life: timedelta) -> set[Key]:
    """Keep what was decided, this node's hold for so long; returns the keys whose shard is open here."""
    columns = (
        [row.bucket.tokens for row in rows],
        [row.bucket.refilled_at for row in rows],
        [row.mine.held for row in rows],
        [row.mine.wanted for row in rows],
        [row.mine.asked for row in rows],
        [row.mine.served_at for row in rows],
        [f"{{{','.join(map(str, row.bucket.granted))}}}" for row in rows],  # arrays of one length only can be unnested
    )
    keys = _columns([row.key for row in rows])
    written = await tx.rows(sql("quotas/write"), *keys, *columns, incarnation, tx.now, tx.now + life)
    return {Key(row["tenant_id"], row["key"]) for row in written}


def _columns(keys: Sequence[Key]) -> tuple[list[int], list[UUID], list[str]]:
    return [key.shard for key in keys], [key.tenant_id for key in keys], [key.name for key in keys]
