"""How lists of jobs are sorted, and where a page of such a list ends."""

from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, NamedTuple

from horae.domain.jobs.jobs import Job

EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


class JobOrder(StrEnum):
    """The order of a list of jobs.

    By the last change the newest comes first, and jobs of the same time come by name from the end. By the next fire the
    soonest comes first, and jobs without a next fire come last.
    """

    NAME = "name"
    CHANGED_AT = "changed_at"
    NEXT_FIRE_AT = "next_fire_at"


class JobMark(NamedTuple):
    """Where a page ends: all jobs up to here were returned. `at` is None where jobs have no next fire."""

    at: datetime | None
    name: str

    @property
    def is_past_fires(self) -> bool:
        """Whether all jobs with a next fire were returned."""
        return self.at is None and self.name != ""


START: Final = JobMark(None, "")


def mark_of(job: Job, order: JobOrder) -> JobMark:
    """Return where a page ends whose last job is this one."""
    return JobMark(job.changed_at if order is JobOrder.CHANGED_AT else job.next_fire_at, job.name)


def sort_jobs(jobs: Iterable[Job], order: JobOrder) -> list[Job]:
    """Return jobs in an order, as the statements of that order return them."""
    if order is JobOrder.NAME:
        return sorted(jobs, key=lambda job: job.name)
    if order is JobOrder.CHANGED_AT:
        return sorted(jobs, key=lambda job: (job.changed_at or EARLIEST, job.name), reverse=True)
    return sorted(jobs, key=lambda job: (job.next_fire_at is None, job.next_fire_at or EARLIEST, job.name))
