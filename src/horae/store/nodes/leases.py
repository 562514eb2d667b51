"""Leases avoid duplicate work; they do not guarantee correctness, the rows of a shard do.

A node is an incarnation with a heartbeat. A shard row names the incarnation that owns the shard. If the owner's
heartbeat has expired, another node may take the shard. Every change of owner increases the shard's epoch.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.store.databases.clock import ClockReading, reading_of
from horae.store.statements import sql
from horae.store.tx import Tx

DEAD_NODES_KEPT: Final = timedelta(days=1)


class Peer(NamedTuple):
    """A living node, and how long it counts as alive without another heartbeat."""

    incarnation: UUID
    draining: bool
    remaining: timedelta


class Renewal(NamedTuple):
    """What a renewal read: the cell's clock, every living node, and the owner of every open shard, alive or dead.

    `seen_at` is the time that it wrote.
    """

    reading: ClockReading
    seen_at: datetime
    peers: list[Peer]
    owners: dict[int, UUID | None]


class NodeRow(NamedTuple):
    """A node, as lists show it."""

    incarnation: UUID
    name: str
    started_at: datetime
    seen_at: datetime
    expires_at: datetime
    draining: bool
    alive: bool
    shards: int


async def heartbeat(tx: Tx, incarnation: UUID, name: str, ttl: timedelta, *, draining: bool = False) -> ClockReading:
    """Extend the life of this incarnation by one TTL from now, by the database's clock; returns the clock reading."""
    row = await tx.row(sql("nodes/leases/heartbeat"), incarnation, name, ttl, draining)
    assert row is not None
    return reading_of(row)


async def renew(tx: Tx, incarnation: UUID, name: str, ttl: timedelta, *, draining: bool = False) -> Renewal:
    """Extend the life of this incarnation by one TTL, and read all living nodes and shard owners in one statement."""
    rows = await tx.rows(sql("nodes/leases/renew"), incarnation, name, ttl, draining)
    peers = {row["incarnation"]: Peer(row["incarnation"], row["draining"], row["remaining"]) for row in rows}
    peers.pop(None, None)
    peers[incarnation] = Peer(incarnation, draining, ttl)  # the statement reads this row before its update
    owners = {shard: row["owner"] for row in rows for shard in row["shards"] or ()}
    return Renewal(reading_of(rows[0]), rows[0]["seen_at"], list(peers.values()), owners)


async def nodes(tx: Tx) -> list[NodeRow]:
    """Every node that this cell remembers, including dead ones."""
    return [NodeRow(*row) for row in await tx.rows(sql("nodes/leases/nodes"), tx.now)]


async def take(tx: Tx, incarnation: UUID, shards: Sequence[int]) -> dict[int, int]:
    """Take the shards whose owner is dead; returns the epochs of all requested shards that this node now holds."""
    rows = await tx.rows(sql("nodes/leases/take"), incarnation, shards, tx.now)
    return {row["shard_id"]: row["epoch"] for row in rows}


async def count_held(tx: Tx, incarnation: UUID) -> int:
    """How many open shards of the cell this node owns."""
    return int(await tx.value(sql("nodes/leases/count_held"), incarnation))


async def give_back(tx: Tx, incarnation: UUID, shards: Sequence[int]) -> list[int]:
    """Release some shards so that other nodes can take them; returns those that this node still owned."""
    return [row["shard_id"] for row in await tx.rows(sql("nodes/leases/give_back"), incarnation, shards)]


async def drain(tx: Tx, incarnation: UUID) -> int:
    """Release every shard at once but stay alive for running attempts; returns the number of released shards."""
    count = await tx.value(sql("nodes/leases/drain"), incarnation)
    assert isinstance(count, int)
    return count


async def release(tx: Tx, incarnation: UUID) -> int:
    """Release every shard at once and delete the node; returns the number of released shards."""
    count = await tx.value(sql("nodes/leases/release"), incarnation)
    assert isinstance(count, int)
    return count


async def forget(tx: Tx) -> None:
    """Delete the rows of nodes that died more than a day ago."""
    await tx.run(sql("nodes/leases/forget"), tx.now - DEAD_NODES_KEPT)


async def is_held(tx: Tx, shard: int) -> bool:
    """Whether a living node owns a shard."""
    return bool(await tx.value(sql("nodes/leases/is_held"), shard, tx.now))
