"""Models of certificates."""

from collections.abc import Iterator
from datetime import date, datetime
from typing import Final
from urllib.parse import urlencode

import msgspec
from pydantic import Field

from horae.api.models.base import ResponseModel
from horae.domain.certificates.certificates import CertifiedDay, CertifiedFinding, JobDayCounts, range_of
from horae.domain.certificates.results import DayCounts
from horae.domain.fire_audit.findings import FireFault
from horae.domain.ids import Prefix, public
from horae.service.certificates.certificates import Certificate, CertifiedDays

MOST_JOBS: Final = 1000
"""Jobs of an answer. The bundle has all of them."""
MOST_FINDINGS: Final = 1000
STATES: Final[dict[str, tuple[str, ...]]] = {
    "expected": (),
    "on_time": ("SUCCESS",),
    "late": ("SUCCESS",),
    "waiting": ("INIT", "BLOCKED", "RUNNING", "FAIL"),
    "dead": ("DEAD",),
    "cancelled": ("CANCELLED",),
    "skipped": ("SKIPPED",),
}
"""The states of the rows behind each number. Fires that are undecided or missing have no row."""


class CertifiedNumberView(ResponseModel):
    """A number of fires, and the address of the instances among which they are."""

    name: str = Field(examples=["on_time"])
    reason: str | None = Field(None, description="Why fires were skipped.", examples=["MISFIRE"])
    fires: int
    rows: str | None = Field(None, description="The list of their instances; null where there are no rows.")


class CertifiedJobView(ResponseModel):
    """The numbers of one job."""

    id: str
    name: str
    numbers: list[CertifiedNumberView]


class CertifiedFindingView(ResponseModel):
    """A contradiction between the schedule and the rows that was found when the certificate was made."""

    fault: FireFault
    job_id: str
    job: str
    at: datetime
    message: str = Field(description="What contradicts what.")
    fires: int = Field(description="How many fires it is about.")

    @classmethod
    def of(cls, one: CertifiedFinding) -> "CertifiedFindingView":
        """Returns the view of a finding."""
        job_id = public(Prefix.JOB, one.job_id)
        return cls(fault=one.fault, job_id=job_id, job=one.job, at=one.at, message=one.said, fires=one.fires)


class CertificateView(ResponseModel):
    """The certificate of a day in UTC: what became of every fire that should exist."""

    tenant: str
    day: date
    revision: int = Field(description="1, or more if it was made again.")
    made_at: datetime
    read_at: datetime = Field(description="When the rows were read that it counts.")
    on_time_seconds: float = Field(description="Seconds after its due time up to which a fire is on time.")
    digest: str = Field(description="The SHA-256 of what was signed. The audit log has it, too.")
    key: str = Field(description="The id of the signing key; `horae keyring show` has its public half.")
    signature: str = Field(description="The Ed25519 signature in hexadecimal.")
    total: list[CertifiedNumberView]
    jobs: list[CertifiedJobView] = Field(description="At most 1,000, by the number of fires that were not on time.")
    jobs_count: int = Field(description="How many jobs it has.")
    findings: list[CertifiedFindingView] = Field(description="At most 1,000.")
    findings_count: int = Field(description="How many findings it has.")

    @classmethod
    def of(cls, made: Certificate) -> "CertificateView":
        """Returns the view of a certificate."""
        content, stored = made.content, made.stored
        jobs = sorted(content.jobs, key=lambda job: job.counts.on_time - job.counts.expected)
        return cls(
            tenant=content.tenant,
            day=content.day,
            revision=content.revision,
            made_at=stored.made_at,
            read_at=content.read_at,
            on_time_seconds=content.on_time_ms / 1000,
            digest=stored.digest.hex(),
            key=stored.key_id,
            signature=stored.signature.hex(),
            total=[*_numbers("/api/v1/instances", content.day, content.total)],
            jobs=[_job_view(content.day, job) for job in jobs[:MOST_JOBS]],
            jobs_count=len(content.jobs),
            findings=[CertifiedFindingView.of(one) for one in content.findings[:MOST_FINDINGS]],
            findings_count=len(content.findings),
        )


class CertifiedDayView(ResponseModel):
    """What the newest certificate of a day says in total."""

    day: date
    revision: int
    made_at: datetime
    expected: int = Field(description="How many fires should have a verdict.")
    on_time: int
    late: int
    waiting: int
    dead: int
    cancelled: int
    skipped: int = Field(description="How many were not to run, for any reason.")
    undecided: int
    missing: int
    findings_count: int = Field(description="How many findings the certificate has; 0: the day has no fault.")

    @classmethod
    def of(cls, one: CertifiedDay) -> "CertifiedDayView":
        """Returns the view of a certified day."""
        counts = msgspec.structs.asdict(one.total) | {"skipped": sum(one.total.skipped.values())}
        numbers = {name: counts[name] for name in DayCounts.__struct_fields__}
        return cls(day=one.day, revision=one.revision, made_at=one.made_at, findings_count=one.findings, **numbers)


class CertifiedDaysView(ResponseModel):
    """The certified days of a range, in order. A day up to `newest` that is missing has no certificate."""

    newest: date = Field(description="The newest day that can have a certificate now.")
    days: list[CertifiedDayView]

    @classmethod
    def of(cls, found: CertifiedDays) -> "CertifiedDaysView":
        """Returns the view of certified days."""
        return cls(newest=found.newest, days=[CertifiedDayView.of(one) for one in found.days])


def _job_view(day: date, job: JobDayCounts) -> CertifiedJobView:
    id_ = public(Prefix.JOB, job.id)
    numbers = [one for one in _numbers(f"/api/v1/jobs/{id_}/instances", day, job.counts) if one.fires]
    return CertifiedJobView(id=id_, name=job.name, numbers=numbers)


def _numbers(path: str, day: date, counts: DayCounts) -> Iterator[CertifiedNumberView]:
    for name in DayCounts.__struct_fields__:
        rows = _address(path, day, STATES[name]) if name in STATES else None
        if name == "skipped":
            for reason, fires in counts.skipped.items():
                yield CertifiedNumberView(name=name, reason=reason, fires=fires, rows=rows)
        else:
            yield CertifiedNumberView(name=name, reason=None, fires=getattr(counts, name), rows=rows)


def _address(path: str, day: date, states: tuple[str, ...]) -> str:
    since, until = (f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in range_of(day))
    query = [*(("state", state) for state in states), ("since", since), ("until", until)]
    order = [("order", "fire_time")] if path.endswith("v1/instances") else []
    return f"{path}?{urlencode([*query, *order])}"
