"""Findings about a job: its status, its dates, its last fires, and when it fires next."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from horae.domain.explanations.findings import Finding, FindingCode
from horae.domain.instances.lifecycle import State
from horae.domain.jobs.jobs import Job, Status
from horae.domain.plans.plans import SHADOW
from horae.service.explanations.rows import instance_facts, instance_row, job_row, version_row
from horae.store.instances.history import InstanceRecord


def status_finding(job: Job) -> Finding | None:
    """Why a job that is not active fires nothing."""
    match job.status:
        case Status.ACTIVE:
            return None
        case Status.PAUSED if job.definition.labels.get(SHADOW) == "true":
            code = FindingCode.SHADOW
        case Status.PAUSED:
            code = FindingCode.PAUSED
        case Status.COMPLETED:
            code = FindingCode.COMPLETED
        case Status.REMOVED:
            code = FindingCode.REMOVED
    return Finding(code, {"job": job.name}, (job_row(job),))


def dates_finding(job: Job, at: datetime) -> Finding | None:
    """Why a job fires nothing at a time: it starts later, or has ended."""
    start, end = job.definition.policies.start, job.definition.policies.end
    rows = (version_row(job, job.version),)
    if start is not None and at < start:
        return Finding(FindingCode.NOT_STARTED, {"job": job.name, "start": start}, rows)
    if end is not None and end <= at:
        return Finding(FindingCode.ENDED, {"job": job.name, "end": end}, rows)
    return None


def trigger_finding(job: Job) -> Finding | None:
    """Why a job has no fires of its own: something else starts its instances."""
    if job.keyed:
        code = FindingCode.TASK_TYPE
    elif job.rolling:
        code = FindingCode.ROLLING_SET
    elif job.recurring or job.single:
        return None
    else:
        code = FindingCode.MANUAL_ONLY
    return Finding(code, {"job": job.name}, (version_row(job, job.version),))


def skip_finding(past: InstanceRecord) -> Finding:
    """Why a fire, or a range of fires, ran nothing."""
    facts = instance_facts(past, reason=past.reason or "")
    if past.range_to is not None and past.range_count is not None and past.range_count > 1:
        facts |= {"range_to": past.range_to, "range_count": past.range_count}
    return Finding(FindingCode.SKIPPED, facts, (instance_row(past),))


def last_skips_finding(ended: Sequence[InstanceRecord]) -> Finding | None:
    """Why the last fires left no run: the SKIPPED rows since the last run. `ended` is sorted, newest first."""
    skipped = []
    for past in ended:
        if past.state != State.SKIPPED:
            break
        skipped.append(past)
    if not skipped:
        return None
    count = sum(past.range_count or 1 for past in skipped)
    reasons = sorted({past.reason for past in skipped if past.reason is not None})
    found = skip_finding(skipped[0])
    more = {"count": count} if count > (skipped[0].range_count or 1) else {}
    return replace(found, facts=found.facts | {"reasons": reasons, **more})


def next_fire_finding(job: Job, now: datetime) -> Finding | None:
    """When an active job fires next, or since when its next fire is overdue."""
    at = job.next_fire_at
    if job.status != Status.ACTIVE or at is None or not job.recurring:
        return None
    code = FindingCode.OVERDUE if at <= now else FindingCode.NEXT_FIRE
    return Finding(code, {"job": job.name, "next_fire_at": at}, (job_row(job),))
