"""Models of the worst jobs of a tenant."""

from datetime import datetime

from pydantic import Field

from horae.api.models.base import ResponseModel
from horae.api.models.job_people import OWNER, RUNBOOK
from horae.api.models.recent_runs import RecentRunView
from horae.api.pages import Page
from horae.domain.ids import Prefix, public
from horae.domain.jobs.jobs import Status
from horae.service.jobs.problems import ProblemJob


class ProblemJobView(ResponseModel):
    """A job with open dead letters or overdue instances, and its newest runs."""

    job_id: str = Field(examples=["job_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    name: str
    status: Status
    owner: str | None = Field(None, description=OWNER)
    runbook: str | None = Field(None, description=RUNBOOK)
    is_failing: bool = Field(description="Its last run that was neither skipped nor cancelled died.")
    dead: int = Field(description="Number of open dead letters.")
    dead_last_hour: int = Field(description="How many of them are of the last hour.")
    last_dead_at: datetime | None = None
    overdue: int = Field(description="Number of instances that wait for longer than a minute after they were due.")
    retries: int = Field(description="How many of them wait for a retry.")
    overdue_since: datetime | None = None
    recent_runs: list[RecentRunView] = Field(description="The newest ended runs, newest first.")

    @classmethod
    def of(cls, one: ProblemJob) -> "ProblemJobView":
        """Returns the view of a problem job that has been described."""
        job = one.job
        assert job is not None
        return cls(
            job_id=public(Prefix.JOB, job.id),
            name=job.name,
            status=job.status,
            owner=job.definition.owner,
            runbook=job.definition.runbook,
            is_failing=one.is_failing,
            dead=one.dead,
            dead_last_hour=one.dead_last_hour,
            last_dead_at=one.last_dead_at,
            overdue=one.overdue,
            retries=one.retries,
            overdue_since=one.overdue_since,
            recent_runs=[RecentRunView.of(run) for run in one.runs],
        )


class ProblemJobPage(Page[ProblemJobView]):
    """A page of the worst jobs."""

    is_complete: bool = Field(
        description="Every open dead letter and overdue instance was counted; otherwise the newest dead letters and "
        "the oldest instances were."
    )
