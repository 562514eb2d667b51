"""Workers at queues: API processes write who polls, every few seconds and into every cell."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.workers.queue_workers import POLLING_WINDOW, PollOrigin, QueueWorker, WorkerDrain
from horae.store.statements import sql
from horae.store.tx import Tx

MAX_WORKERS_PER_TENANT: Final = 10_000
"""Rows of one tenant: pairs of a worker and a queue. The oldest are deleted first."""
WORKERS_KEPT: Final = timedelta(hours=1)
"""The time after its last poll for which the row of a worker is kept."""


async def write(tx: Tx, process: str, seen: Sequence[QueueWorker]) -> list[UUID]:
    """Write who polled at an API process; returns the tenants of new workers. All writers sort alike: no deadlocks."""
    rows = await tx.rows(
        sql("workers/queue_workers/write"),
        [one.tenant_id for one in seen],
        [one.queue for one in seen],
        [one.worker_id for one in seen],
        [one.polled_at for one in seen],
        [one.wanted for one in seen],
        [one.origin.client for one in seen],
        [one.origin.address for one in seen],
        process,
        POLLING_WINDOW,
    )
    return [row["tenant_id"] for row in rows]


async def trim(tx: Tx, tenant_id: UUID) -> int:
    """Delete the oldest rows of a tenant that has too many; returns how many."""
    return len(await tx.rows(sql("workers/queue_workers/trim"), tenant_id, MAX_WORKERS_PER_TENANT))


class WorkerFilter(NamedTuple):
    """Which workers are listed: of one queue, with one id, or that polled after a time. None is any."""

    queue: str | None = None
    worker_id: str | None = None
    polled_after: datetime | None = None


async def page(tx: Tx, tenant_id: UUID, sought: WorkerFilter, after: tuple[str, str], limit: int) -> list[QueueWorker]:
    """A page of a tenant's workers, by queue and id."""
    rows = await tx.rows(
        sql("workers/queue_workers/page"), tenant_id, sought.queue, sought.worker_id, *after, sought.polled_after, limit
    )
    return [
        QueueWorker(
            tenant_id=row["tenant_id"],
            queue=row["queue"],
            worker_id=row["worker_id"],
            since=row["since"],
            polled_at=row["polled_at"],
            wanted=row["wanted"],
            origin=PollOrigin(row["client"], row["address"]),
            process=row["process"],
            drain=_drain_of(row),
        )
        for row in rows
    ]


def _drain_of(row: asyncpg.Record) -> WorkerDrain | None:
    if row["drained_at"] is None:
        return None
    return WorkerDrain(row["drained_at"], row["drained_by"], row["reason"])


async def forget(tx: Tx, limit: int) -> int:
    """Delete rows of workers that have not polled for an hour, at most `limit`; returns how many."""
    return len(await tx.rows(sql("workers/queue_workers/forget"), tx.now - WORKERS_KEPT, limit))
