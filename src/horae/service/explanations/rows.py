"""The rows that a finding names, and the facts that most findings about an instance have."""

from typing import Any

from horae.domain.explanations.findings import DecidingRow, RowKind
from horae.domain.ids import Prefix, public
from horae.domain.jobs.jobs import Job
from horae.store.instances.history import InstanceRecord


def job_row(job: Job) -> DecidingRow:
    """The row of a job."""
    return DecidingRow(RowKind.JOB, public(Prefix.JOB, job.id))


def version_row(job: Job, version: int) -> DecidingRow:
    """The row of one version of a job."""
    return DecidingRow(RowKind.VERSION, f"{public(Prefix.JOB, job.id)}@{version}")


def instance_row(past: InstanceRecord) -> DecidingRow:
    """The row of an instance."""
    return DecidingRow(RowKind.INSTANCE, public(Prefix.INSTANCE, past.id))


def instance_facts(past: InstanceRecord, **more: object) -> dict[str, Any]:
    """The facts that name an instance, and more. What the target answered and the payload are never among them."""
    named = {"instance": public(Prefix.INSTANCE, past.id), "fire_time": past.fire_time, "state": past.state}
    return {**named, "due_at": past.due_at, **more}
