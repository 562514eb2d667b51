"""Which shards are open in this cell. A shard is open in at most one."""

from collections.abc import Sequence

from horae.store.statements import sql
from horae.store.tx import Tx


async def active(tx: Tx) -> list[int]:
    """The shards this cell holds."""
    return [row["shard_id"] for row in await tx.rows(sql("shards/active"))]


async def activate(tx: Tx, shards: Sequence[int]) -> None:
    """Open shards in this cell; only right when no other cell holds them."""
    await tx.run(sql("shards/activate"), shards)


async def freeze(tx: Tx, shards: Sequence[int]) -> None:
    """Close shards: from this commit on no transaction that begins may write for them."""
    await tx.run(sql("shards/freeze"), shards)
