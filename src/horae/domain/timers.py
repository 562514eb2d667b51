"""Something that will be due: a cursor at its next fire, or an instance at its next try."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.domain.instances import Lane, Priority
from horae.domain.jobs import Job


class Timer(NamedTuple):
    """As a look at the rows finds it. A hint: the row may have moved since, and the claim asks it again.

    `id` is the job's for a cursor, the instance's else; `fired` counts a cursor's fires and is None for an instance.
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
    """The timer of a job's cursor that stands at a time."""
    return Timer(job.shard, job.id, at, job.tenant_id, job.definition.priority, Lane.FIRST, job.id, job.version, fired)
