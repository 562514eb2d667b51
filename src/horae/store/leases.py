"""Leases only save work; correctness lives in the rows they point at.

A node is an incarnation with a heartbeat; a shard names the incarnation that owns it. A shard whose owner has not
been seen in time is free to take. Every change of owner raises the shard's epoch.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.store.clock import Told, told
from horae.store.statements import sql
from horae.store.tx import Tx

REMEMBERED: Final = timedelta(days=1)


class Peer(NamedTuple):
    """A living node, and for how long it lives on if nothing more is heard of it."""

    incarnation: UUID
    draining: bool
    remaining: timedelta


class Renewal(NamedTuple):
    """What a renewal read: the cell's clock, every living node, and every open shard with its owner, dead or alive."""

    told: Told
    peers: list[Peer]
    owners: dict[int, UUID | None]


class NodeRow(NamedTuple):
    """A node as people look at it."""

    incarnation: UUID
    name: str
    started_at: datetime
    seen_at: datetime
    expires_at: datetime
    draining: bool
    alive: bool
    shards: int


async def heartbeat(tx: Tx, incarnation: UUID, name: str, ttl: timedelta, *, draining: bool = False) -> Told:
    """Say that this incarnation lives for one more TTL from now on, by the database's clock, which is told."""
    row = await tx.row(sql("leases/heartbeat"), incarnation, name, ttl, draining)
    assert row is not None
    return told(row)


async def renew(tx: Tx, incarnation: UUID, name: str, ttl: timedelta, *, draining: bool = False) -> Renewal:
    """Say that this incarnation lives for one more TTL, and read who else lives and owns what, in one statement."""
    rows = await tx.rows(sql("leases/renew"), incarnation, name, ttl, draining)
    peers = {row["incarnation"]: Peer(row["incarnation"], row["draining"], row["remaining"]) for row in rows}
    peers.pop(None, None)
    peers[incarnation] = Peer(incarnation, draining, ttl)  # the statement sees the row as it was before
    owners = {shard: row["owner"] for row in rows for shard in row["shards"] or ()}
    return Renewal(told(rows[0]), list(peers.values()), owners)


async def nodes(tx: Tx) -> list[NodeRow]:
    """Every node that is remembered here, dead ones too."""
    return [NodeRow(*row) for row in await tx.rows(sql("leases/nodes"), tx.now)]


async def take(tx: Tx, incarnation: UUID, shards: Sequence[int]) -> dict[int, int]:
    """Take those shards whose owner is gone; returns all of the asked ones now held, with their epoch."""
    rows = await tx.rows(sql("leases/take"), incarnation, shards, tx.now)
    return {row["shard_id"]: row["epoch"] for row in rows}


async def give_back(tx: Tx, incarnation: UUID, shards: Sequence[int]) -> list[int]:
    """Let go of some shards for whoever they are dealt to; returns those that were still ours."""
    return [row["shard_id"] for row in await tx.rows(sql("leases/give_back"), incarnation, shards)]


async def drain(tx: Tx, incarnation: UUID) -> int:
    """Hand every shard back at once, but live on for what is in flight; returns how many were held."""
    count = await tx.value(sql("leases/drain"), incarnation)
    assert isinstance(count, int)
    return count


async def release(tx: Tx, incarnation: UUID) -> int:
    """Hand everything back at once and say goodbye."""
    count = await tx.value(sql("leases/release"), incarnation)
    assert isinstance(count, int)
    return count


async def forget(tx: Tx) -> None:
    """Drop the rows of nodes that have been gone for a day."""
    await tx.run(sql("leases/forget"), tx.now - REMEMBERED)


async def held(tx: Tx, shard: int) -> bool:
    """Whether a living node owns a shard."""
    return bool(await tx.value(sql("leases/held"), shard, tx.now))
