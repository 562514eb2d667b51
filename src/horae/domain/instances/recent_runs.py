"""The newest ended runs of jobs."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID


class RecentRun(NamedTuple):
    """One of the newest ended runs of a job."""

    job_id: UUID
    id: UUID
    state: str
    fire_time: datetime
    ended_at: datetime
    duration_ms: int | None
    error_code: str | None
