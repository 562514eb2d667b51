"""The versions of a job. A version never changes."""

from datetime import datetime
from typing import Any, NamedTuple

from horae.domain.jobs.jobs import Job
from horae.store.statements import sql
from horae.store.tx import Tx


class Version(NamedTuple):
    """One version: when it was created, by whom, and its definition as stored."""

    version: int
    created_at: datetime
    created_by: str
    definition: Any
    unreadable: str | None = None


async def listing(tx: Tx, job: Job, before: int, limit: int) -> list[Version]:
    """A job's versions below `before`, newest first."""
    return [Version(*row) for row in await tx.rows(sql("jobs/versions/listing"), *_of(job), before, limit)]


async def find(tx: Tx, job: Job, version: int) -> Version | None:
    """One version; None when there is no such version."""
    row = await tx.row(sql("jobs/versions/find"), *_of(job), version)
    return None if row is None else Version(*row)


def _of(job: Job) -> tuple[object, ...]:
    return (job.shard, job.id, job.tenant_id)
