"""What is wrong with the jobs of a tenant now, as the rows of one cell tell."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx


class DeadCount(NamedTuple):
    """The open dead letters of a job: how many, how many of the last hour, and the times of the first and last one."""

    job_id: UUID
    open: int
    last_hour: int
    first_at: datetime
    last_at: datetime


class OverdueCount(NamedTuple):
    """The instances of a job that are overdue: how many, how many of them retries, and the oldest due time."""

    job_id: UUID
    overdue: int
    retries: int
    since: datetime


async def dead(tx: Tx, tenant_id: UUID, limit: int) -> list[DeadCount]:
    """The jobs of the tenant's newest open dead letters; at most `limit` dead letters are read."""
    return [DeadCount(*row) for row in await tx.rows(sql("jobs/problems/dead"), tenant_id, tx.now, limit)]


async def overdue(tx: Tx, tenant_id: UUID, shards: Sequence[int], before: datetime, limit: int) -> list[OverdueCount]:
    """The tenant's jobs with instances that are due since before a time; reads `limit` of each class and queue."""
    rows = await tx.rows(sql("jobs/problems/overdue"), tenant_id, shards, before, limit)
    return [OverdueCount(*row) for row in rows]
