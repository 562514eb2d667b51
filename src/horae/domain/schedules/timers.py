"""A timer: a cursor at its next fire, or an instance at its next attempt."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.domain.instances.instances import Lane, Priority
from horae.domain.jobs.jobs import Job


class Timer(NamedTuple):
    """A timer as a scan finds it. It is a hint: the row may have changed since, and the claim checks the row again.

    `id` is the job's for a cursor, otherwise the instance's. `fired` counts the fires of a cursor; None for an
    instance.
    """

    shard: int
    id: UUID
    at: datetime
    tenant_id: UUID
    priority: Priority
    lane: Lane
    job_id: UUID
    version: int
    fired: int | None = None


def cursor_of(job: Job, at: datetime, fired: int = 0) -> Timer:
    """Return the timer of a job's cursor at a time."""
    return Timer(job.shard, job.id, at, job.tenant_id, job.definition.priority, Lane.FIRST, job.id, job.version, fired)
