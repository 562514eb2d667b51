"""Edges between jobs, and the ended instances that they follow.

An edge lies in the definition of the job that it starts. Its position in each cell is a `feed_position`, as that of a
subscription (`horae.store.events.feeds`).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from horae.domain.ids import shard_in
from horae.domain.instances.lifecycle import State
from horae.domain.jobs.edges import After, Edge, EndedInstance
from horae.store.events.feeds import FeedMove
from horae.store.reading import read_rows
from horae.store.statements import sql
from horae.store.tx import Tx


async def active(tx: Tx) -> list[Edge]:
    """The edges of all tenants whose jobs are in this cell. One that this release cannot read is left out."""
    rows = await tx.rows(sql("jobs/edges/active"))
    return [
        Edge(row["id"], row["tenant_id"], row["name"], row["version"], row["job_id"], after, row["is_keyed"])
        for row, after in read_rows("job", rows, lambda row: msgspec.convert(row["after"], After))
    ]


async def of_tenant(tx: Tx, tenant_id: UUID) -> dict[str, str]:
    """Which job each job of a tenant starts after, of those in this cell."""
    return {row["name"]: row["source"] for row in await tx.rows(sql("jobs/edges/of_tenant"), tenant_id)}


async def ended(
    tx: Tx,
    span: tuple[int, int],
    since: datetime,
    blocks: Sequence[int],
    edge: Edge,
    job_id: UUID,
    states: Sequence[State],
    limit: int,
) -> list[EndedInstance]:
    """The instances of a job that ended in a span of transactions. Transactions are whole: it may exceed `limit`."""
    args = (*span, since, blocks, edge.tenant_id, job_id, states, limit)
    return [EndedInstance(*row) for row in await tx.rows(sql("jobs/edges/ended"), *args)]


async def move(
    tx: Tx, edge: Edge, moves: Sequence[FeedMove], at: datetime | None, refusal: str | None, *, has_started: bool
) -> int:
    """Move blocks whose revision is still as read; returns how many. `refusal` says why something was not started."""
    blocks, revisions, xids, _, _, sent = zip(*moves, strict=True)
    args = (edge.id, blocks, revisions, xids, at, tx.now, sent, refusal, has_started)
    return len(await tx.rows(sql("jobs/edges/move"), *args))


async def refuse(tx: Tx, edge: Edge, instance_id: UUID, body: dict[str, Any]) -> bool:
    """Record that an ended instance starts nothing; False when the shard of the job is closed."""
    args = (shard_in(edge.job_id), tx.now, edge.tenant_id, edge.job_id, instance_id, body)
    return await tx.value(sql("jobs/edges/refuse"), *args) is not None
