"""Remembers how long the runs of each job take, to put long work behind short work when retries pile up."""

from typing import Final
from uuid import UUID

NEWEST_SHARE: Final = 0.2
"""The part of the newest duration in the average."""
MAX_JOBS: Final = 50_000
"""Jobs that are remembered; then it begins again."""


class JobDurations:
    """A moving average for each job, in milliseconds. A failed attempt counts only while no other duration is known."""

    def __init__(self) -> None:
        self._averages: dict[UUID, float] = {}

    def learn(self, job_id: UUID, duration_ms: int, *, succeeded: bool = True) -> None:
        """Add the duration of an attempt."""
        before = self._averages.get(job_id)
        if before is None:
            if len(self._averages) >= MAX_JOBS:
                self._averages.clear()
            self._averages[job_id] = duration_ms
        elif succeeded:
            self._averages[job_id] = before + NEWEST_SHARE * (duration_ms - before)

    def of(self, job_id: UUID) -> float | None:
        """How long runs of a job take; None if none has ended here."""
        return self._averages.get(job_id)
