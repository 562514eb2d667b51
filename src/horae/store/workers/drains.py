"""Drained workers: they get no new work. Every cell has a row of each, so that a claim needs no other cell."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx
from horae.store.workers.queue_workers import WORKERS_KEPT

MARK_KEPT: Final[timedelta] = WORKERS_KEPT
"""The time after which the mark of a worker is deleted that is not listed any more."""


async def write(
    tx: Tx, shard: int | None, tenant_id: UUID, worker_id: str, *, drained_by: str, reason: str
) -> datetime | None:
    """Mark a worker as drained; returns since when, or None if the home shard is closed. A copy has no shard."""
    found: datetime | None = await tx.value(
        sql("workers/drains/write"), shard, tx.now, tenant_id, worker_id, drained_by, reason
    )
    return found


async def remove(tx: Tx, shard: int | None, tenant_id: UUID, worker_id: str) -> bool | None:
    """Remove the mark of a worker; returns whether it had one, or None if the home shard is closed."""
    found: bool | None = await tx.value(sql("workers/drains/remove"), shard, tenant_id, worker_id)
    return found


async def forget(tx: Tx, limit: int) -> int:
    """Delete the marks of workers that are not listed any more, at most `limit`; returns how many."""
    return len(await tx.rows(sql("workers/drains/forget"), tx.now - MARK_KEPT, limit))
