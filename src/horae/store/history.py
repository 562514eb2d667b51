"""What became of instances, live and ended behind one list. What has ended is never changed: it is its own event."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from horae.domain.ids import shard_in
from horae.domain.sealed import read
from horae.domain.searches import Mark, Sought
from horae.domain.signals import BOUNDS_MS
from horae.store.statements import sql
from horae.store.tx import Tx


class Past(NamedTuple):
    """One instance as people look at it: ended, or still to come."""

    id: UUID
    job_id: UUID
    business_key: str | None
    fire_time: datetime
    state: str
    reason: str | None
    attempt: int
    retry_count: int
    changed_at: datetime
    trigger_delay_ms: int | None
    duration_ms: int | None
    range_to: datetime | None
    range_count: int | None
    error_code: str | None
    error_msg: str | None
    idem_key: str
    due_at: datetime
    priority: int
    lane: int
    job_version: int
    worker_id: str | None
    payload: Any = None
    attempts: Sequence[Any] | None = None
    deadline: datetime | None = None
    held_ms: int = 0
    replay_of: UUID | None = None
    job: str | None = None
    unreadable: str | None = None

    @property
    def mark(self) -> Mark:
        """Where a page that ends with it ends."""
        return Mark(self.fire_time, self.id)


class Leaf(NamedTuple):
    """What one cell adds to a page, and how far it looked when there may be more behind."""

    found: list[Past]
    walked: Mark | None


class Bounds(NamedTuple):
    """How many to tell, and how many ended ones to look at for them."""

    limit: int
    scan: int = 5000


async def of_job(
    tx: Tx,
    tenant_id: UUID,
    job_id: UUID,
    shards: Sequence[int],
    sought: Sought,
    before: Mark,
    bounds: Bounds,
    *,
    spread: bool,
) -> Leaf:
    """A job's instances in this cell, newest fire first, live ones of these shards. A spread job's are keyed."""
    args = (tenant_id, job_id, shards, *before, sought.since, sought.until, sought.states, sought.business_key)
    rows = await tx.rows(sql("history/of_job"), *args, bounds.scan, bounds.limit, spread)
    walked = None if rows[0]["walked_id"] is None else Mark(rows[0]["walked_at"], rows[0]["walked_id"])
    return Leaf([Past(*tuple(row)[:-2]) for row in rows if row["id"] is not None], walked)


async def of_tenant(
    tx: Tx, tenant_id: UUID, shards: Sequence[int], sought: Sought, before: UUID, floor: UUID, limit: int
) -> list[Past]:
    """A tenant's instances in this cell that were born between two ids, newest first."""
    args = (tenant_id, shards, before, floor, sought.states, sought.business_key, limit)
    return [Past(*row) for row in await tx.rows(sql("history/of_tenant"), *args)]


async def find(tx: Tx, tenant_id: UUID, id_: UUID) -> Past | None:
    """One instance with its attempts and payload."""
    row = await tx.row(sql("history/find"), tenant_id, shard_in(id_), id_)
    if row is None:
        return None
    past = Past(*row)
    return past._replace(payload=read(past.payload))


async def outcomes(
    tx: Tx, tenant_id: UUID, job_id: UUID, since: datetime, until: datetime, *, lane: int | None, most: int
) -> dict[str, int]:
    """How many fires of a job between two times ended how; at most so many are looked at."""
    rows = await tx.rows(sql("history/outcomes"), tenant_id, job_id, since, until, lane, most)
    return {row["state"]: row["many"] for row in rows}


async def lateness(tx: Tx, since_xid: int, since: datetime) -> list[tuple[int, int, int]]:
    """How many first attempts ended since a time: (second of the minute they were due at, bucket of delays, many)."""
    rows = await tx.rows(sql("history/lateness"), since_xid, since, list(BOUNDS_MS))
    return [tuple(row) for row in rows]
