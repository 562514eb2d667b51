"""Requests about jobs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from horae_client.models import (
    Backfill,
    BulkResult,
    Counts,
    ExpectedFires,
    Forecast,
    ForecastEffect,
    Instance,
    Job,
    JobDifference,
    JobTestResult,
    Page,
    ProblemJob,
    Schedule,
    SpreadProposal,
    Triggered,
    Version,
    WorstSeconds,
)
from horae_client.wire import Request, aware, path, said


def create(name: str, spec: Mapping[str, Any], key: str) -> Request[Job]:
    """Create a job."""
    return Request("POST", path("jobs"), Job, body={"name": name, **spec}, key=key)


def update(job: str, version: int, spec: Mapping[str, Any], key: str) -> Request[Job]:
    """Write the next version of a job."""
    return Request("PUT", path("jobs", job), Job, body={"version": version, **spec}, key=key)


def get(job: str) -> Request[Job]:
    """Get one job."""
    return Request("GET", path("jobs", job), Job)


def listing(query: Mapping[str, Any]) -> Request[Page[Job]]:
    """Get a page of jobs."""
    return Request("GET", path("jobs"), Page[Job], query=query)


def problems(owner: str | None) -> Request[Page[ProblemJob]]:
    """Get a page of the worst jobs."""
    return Request("GET", path("problem-jobs"), Page[ProblemJob], query=said(owner=owner))


def verb(job: str, name: str, key: str, body: Any = None) -> Request[Job]:
    """Pause, resume, skip, move or restore."""
    return Request("POST", path("jobs", job, name), Job, body=body, key=key)


def label(job: str, labels: Mapping[str, str | None], key: str) -> Request[Job]:
    """Set or remove labels."""
    return Request("PATCH", path("jobs", job, "labels"), Job, body={"labels": labels}, key=key)


def people(job: str, fields: Mapping[str, Any], key: str) -> Request[Job]:
    """Set or clear fields for people and alerts."""
    return Request("PATCH", path("jobs", job, "people"), Job, body=fields, key=key)


def remove(job: str) -> Request[Job]:
    """Remove a job. It is not retried after a lost answer, because a second removal finds nothing."""
    return Request("DELETE", path("jobs", job), Job, again=False)


def trigger(job: str, payload: Any, key: str) -> Request[Triggered]:
    """Fire a job now."""
    return Request("POST", path("jobs", job, "trigger"), Triggered, body=said(payload=payload), key=key)


def backfill_body(
    since: datetime,
    until: datetime,
    cap: int | None,
    rerun: bool | None,
    mode: str | None,
    newest_first: bool | None,
    rate: float | None,
    **more: Any,
) -> dict[str, Any]:
    """The body of a backfill, of its plan or of a group."""
    facts = {"cap": cap, "rerun": rerun, "mode": mode, "newest_first": newest_first, "rate": rate}
    return said(since=aware(since), until=aware(until), **facts, **more)


def backfill(job: str, body: Mapping[str, Any], key: str) -> Request[Backfill]:
    """Run past fires."""
    return Request("POST", path("jobs", job, "backfill"), Backfill, body=body, key=key)


def history(
    job: str, states: Sequence[str], since: datetime | None, until: datetime | None, key: str | None
) -> Request[Page[Instance]]:
    """Get a page of a job's instances."""
    query = said(state=list(states) or None, since=stamp(since), until=stamp(until), key=key)
    return Request("GET", path("jobs", job, "instances"), Page[Instance], query=query)


def counts(job: str, since: datetime | None, until: datetime | None) -> Request[Counts]:
    """Count a job's instances by state."""
    return Request("GET", path("jobs", job, "counts"), Counts, query=said(since=stamp(since), until=stamp(until)))


def preview(job: str, many: int) -> Request[Schedule]:
    """Get the next fires of a job."""
    return Request("GET", path("jobs", job, "preview"), Schedule, query={"many": many})


def expected_fires(job: str, since: datetime, until: datetime) -> Request[ExpectedFires]:
    """Get the fires of a range of time."""
    query = said(since=stamp(since), until=stamp(until))
    return Request("GET", path("jobs", job, "expected-fires"), ExpectedFires, query=query)


def versions(job: str) -> Request[Page[Version]]:
    """Get a page of a job's versions."""
    return Request("GET", path("jobs", job, "versions"), Page[Version])


def version(job: str, number: int) -> Request[Version]:
    """Get one version of a job."""
    return Request("GET", path("jobs", job, "versions", str(number)), Version)


def compare(job: str, before: int, after: int) -> Request[list[JobDifference]]:
    """Compare two versions of a job."""
    query = {"before": before, "after": after}
    return Request("GET", path("jobs", job, "diff"), list[JobDifference], query=query)


def preview_new(name: str, spec: Mapping[str, Any]) -> Request[Job]:
    """Preview a job without creating it."""
    return Request("POST", path("preview"), Job, body={"name": name, **spec})


def send_test(job: str, payload: Any) -> Request[JobTestResult]:
    """Send a test request. It is not retried after a lost answer, because a second request is a second call."""
    return Request("POST", path("jobs", job, "test"), JobTestResult, body=said(payload=payload), again=False)


def bulk(body: Mapping[str, Any], key: str) -> Request[BulkResult]:
    """Pause, resume, trigger or retry one page of jobs."""
    return Request("POST", path("bulk", "jobs"), BulkResult, body=body, key=key)


def forecast(hours: float) -> Request[Forecast]:
    """Get the fires of the coming hours."""
    return Request("GET", path("forecast"), Forecast, query={"hours": hours})


def worst_seconds(hours: float, minute: datetime | None, seconds: int, jobs: int) -> Request[WorstSeconds]:
    """Get the busiest seconds of the forecast, with their jobs."""
    query = said(hours=hours, minute=stamp(minute), seconds=seconds, jobs=jobs)
    return Request("GET", path("forecast", "worst"), WorstSeconds, query=query)


def propose_spread(jobs: Sequence[str], hours: float, within: int) -> Request[SpreadProposal]:
    """Propose spread windows for jobs."""
    body = {"jobs": [*jobs], "hours": hours, "within": within}
    return Request("POST", path("forecast", "spread"), SpreadProposal, body=body)


def forecast_new(name: str, spec: Mapping[str, Any]) -> Request[ForecastEffect]:
    """Get the effect of a job that is not saved."""
    return Request("POST", path("forecast"), ForecastEffect, body={"name": name, **spec})


def stamp(moment: datetime | None) -> str | None:
    """A time as a query parameter."""
    known = aware(moment)
    return None if known is None else known.isoformat()
