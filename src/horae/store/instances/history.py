"""Instances, live and ended, in one list. An ended row never changes, so it is also the event of its end."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.encryption.encrypted_values import read
from horae.domain.health.signals import BOUNDS_MS
from horae.domain.ids import shard_in
from horae.domain.instances.lifecycle import State
from horae.domain.instances.recent_runs import RecentRun
from horae.domain.instances.searches import InstanceFilter, InstanceMark
from horae.store.statements import sql
from horae.store.tx import Tx

PLAIN_STATUS: Final = 200
"""The status of a plain success over HTTP."""


class InstanceRecord(NamedTuple):
    """One instance as lists show it: ended, or live."""

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
    node: str | None = None
    progress: Any = None
    job: str | None = None
    unreadable: str | None = None

    @property
    def mark(self) -> InstanceMark:
        """The page mark of this row."""
        return InstanceMark(self.fire_time, self.id)


class Leaf(NamedTuple):
    """The rows that one cell adds to a page, and how far it has scanned if there may be more."""

    found: list[InstanceRecord]
    walked: InstanceMark | None


class Bounds(NamedTuple):
    """How many rows to return, and how many ended rows to scan for them."""

    limit: int
    scan: int = 5000


async def of_job(
    tx: Tx,
    tenant_id: UUID,
    job_id: UUID,
    shards: Sequence[int],
    sought: InstanceFilter,
    before: InstanceMark,
    bounds: Bounds,
    *,
    spread: bool,
) -> Leaf:
    """A job's instances in this cell, newest fire first; live ones from these shards.

    `spread`: the rows of the job are spread over shards, so each has a business key.
    """
    args = (tenant_id, job_id, shards, *before, sought.since, sought.until, sought.states, sought.business_key)
    return _leaf(await tx.rows(sql("instances/history/of_job"), *args, bounds.scan, bounds.limit, spread))


async def by_fire_time(
    tx: Tx,
    tenant_id: UUID,
    shards: Sequence[int],
    sought: InstanceFilter,
    before: InstanceMark,
    bounds: Bounds,
) -> Leaf:
    """A tenant's instances in this cell, newest fire first; live ones from these shards."""
    args = (tenant_id, shards, *before, sought.since, sought.until, sought.states, sought.business_key)
    return _leaf(await tx.rows(sql("instances/history/by_fire_time"), *args, bounds.scan, bounds.limit))


def _leaf(rows: Sequence[asyncpg.Record]) -> Leaf:
    """The rows of a page; each has also how far the statement has scanned."""
    walked = None if rows[0]["walked_id"] is None else InstanceMark(rows[0]["walked_at"], rows[0]["walked_id"])
    return Leaf([InstanceRecord(*tuple(row)[:-2]) for row in rows if row["id"] is not None], walked)


async def of_tenant(
    tx: Tx, tenant_id: UUID, shards: Sequence[int], sought: InstanceFilter, before: UUID, floor: UUID, limit: int
) -> list[InstanceRecord]:
    """A tenant's instances in this cell with ids between `floor` and `before`, newest first."""
    args = (tenant_id, shards, before, floor, sought.states, sought.business_key, limit)
    return [InstanceRecord(*row) for row in await tx.rows(sql("instances/history/of_tenant"), *args)]


async def find(tx: Tx, tenant_id: UUID, id_: UUID) -> InstanceRecord | None:
    """One instance with its attempts and payload."""
    row = await tx.row(sql("instances/history/find"), tenant_id, shard_in(id_), id_)
    if row is None:
        return None
    past = with_plain_attempt(InstanceRecord(*row))
    return past._replace(payload=read(past.payload))


def with_plain_attempt(past: InstanceRecord) -> InstanceRecord:
    """Add the attempt of a plain success, which is not stored: most rows are one, and all it says is in the row.

    Plain: the first attempt succeeded, over HTTP with status 200 and no body, or by a worker. A row that has notes, or
    no duration, is returned as it is. The attempt began its duration before its end was recorded.
    """
    if past.state != State.SUCCESS or past.attempt != 1 or past.attempts is not None or past.duration_ms is None:
        return past
    ran_by = {"status": PLAIN_STATUS, "node": past.node} if past.worker_id is None else {"worker_id": past.worker_id}
    started_at = past.changed_at - timedelta(milliseconds=past.duration_ms)
    return past._replace(attempts=[{"attempt": 1, "duration_ms": past.duration_ms, "started_at": started_at, **ran_by}])


async def outcomes(
    tx: Tx, tenant_id: UUID, job_id: UUID, since: datetime, until: datetime, *, lane: int | None, most: int
) -> dict[str, int]:
    """How many fires of a job between two times ended in each state; scans at most `most` rows."""
    rows = await tx.rows(sql("instances/history/outcomes"), tenant_id, job_id, since, until, lane, most)
    return {row["state"]: row["many"] for row in rows}


async def recent(tx: Tx, tenant_id: UUID, job_ids: Sequence[UUID], limit: int) -> list[RecentRun]:
    """The newest ended runs in this cell of each of these jobs, at most `limit` for each."""
    return [RecentRun(*row) for row in await tx.rows(sql("instances/history/recent"), tenant_id, job_ids, limit)]


async def lateness(tx: Tx, since_xid: int, since: datetime) -> list[tuple[int, int, int]]:
    """First attempts that ended since a time, as (second of the minute when they were due, delay bucket, count)."""
    rows = await tx.rows(sql("instances/history/lateness"), since_xid, since, list(BOUNDS_MS))
    return [tuple(row) for row in rows]
