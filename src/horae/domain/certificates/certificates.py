"""The certificate of a day: its numbers, the findings of the audit of fires, and the digest of its evidence."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import replace

from horae.domain.certificates.canonical import canonical, digest_of
from horae.domain.certificates.evidence import DayEvidence, JobEvidence
from horae.domain.certificates.results import NOT_OWED, DayCounts, add_up, count, results_of
from horae.domain.fire_audit.comparison import GRACE, judge
from horae.domain.fire_audit.findings import FireFault, FireFinding
from horae.domain.fire_audit.rules import UNREADABLE
from horae.domain.health.service_level import IN_TIME_LIMIT_MS

FORMAT: Final = "horae certificate 1"
DAY: Final = timedelta(days=1)


class JobDayCounts(msgspec.Struct, frozen=True):
    """The numbers of one job."""

    id: UUID
    name: str
    counts: DayCounts


class CertifiedFinding(msgspec.Struct, frozen=True):
    """A finding of the audit of fires. It is part of the certificate: nothing that was found is left out."""

    fault: FireFault
    job_id: UUID
    job: str
    at: datetime
    said: str
    fires: int


class DayCertificate(msgspec.Struct, frozen=True, kw_only=True):
    """What is signed. `evidence` is the digest of the evidence, `key` the id of the signing key."""

    tenant_id: UUID
    tenant: str
    day: date
    revision: int
    read_at: datetime
    on_time_ms: int
    evidence: str
    key: str
    total: DayCounts
    jobs: Sequence[JobDayCounts]
    findings: Sequence[CertifiedFinding]
    format: str = FORMAT


class CountedDay(msgspec.Struct, frozen=True):
    """A day after it was counted: the evidence with the fires that have no row, numbers and findings."""

    evidence: DayEvidence
    jobs: Sequence[JobDayCounts]
    findings: Sequence[CertifiedFinding]


class CertifiedDay(NamedTuple):
    """What the newest certificate of a day says in total, and how many findings it has."""

    day: date
    revision: int
    made_at: datetime
    total: DayCounts
    findings: int


def range_of(day: date) -> tuple[datetime, datetime]:
    """Return the beginning of a day in UTC, and its end."""
    begin = datetime.combine(day, time(), UTC)
    return begin, begin + DAY


def can_be_made_from(day: date) -> datetime:
    """Return from when on a day can be certified: its last fires have had the time that the audit gives them."""
    return range_of(day)[1] + GRACE


def newest_day(now: datetime) -> date:
    """Return the newest day that can be certified."""
    return (now.astimezone(UTC) - GRACE).date() - DAY


def count_day(evidence: DayEvidence) -> CountedDay:
    """Count what became of every fire of a day, and audit it. Jobs without fires, rows and findings are left out."""
    kept, numbers, findings = list[JobEvidence](), list[JobDayCounts](), list[CertifiedFinding]()
    for job in evidence.jobs:
        counted, counts, found = _count_job(evidence, job)
        if counts.expected or counted.rows or counted.absent or found:
            kept.append(counted)
            numbers.append(JobDayCounts(job.id, job.name, counts))
            findings += found
    return CountedDay(replace(evidence, jobs=kept), numbers, findings)


def certify(day: CountedDay, revision: int, key: str) -> tuple[DayCertificate, bytes]:
    """Return the certificate of a counted day, and the bytes of its evidence."""
    evidence = canonical(day.evidence)
    made = DayCertificate(
        tenant_id=day.evidence.tenant_id,
        tenant=day.evidence.tenant,
        day=day.evidence.day,
        revision=revision,
        read_at=day.evidence.read_at,
        on_time_ms=IN_TIME_LIMIT_MS,
        evidence=digest_of(evidence),
        key=key,
        total=add_up(one.counts for one in day.jobs),
        jobs=day.jobs,
        findings=day.findings,
    )
    return made, evidence


def _count_job(evidence: DayEvidence, job: JobEvidence) -> tuple[JobEvidence, DayCounts, list[CertifiedFinding]]:
    since, until = range_of(evidence.day)
    try:
        history = evidence.history_of(job)
        if not history.rules:
            return job, DayCounts(), []
        results = results_of(history, job.rows, since, until)
        verdict = judge(history, [row.recorded() for row in job.rows], since, until)
    except UNREADABLE as error:
        found = CertifiedFinding(FireFault.UNREADABLE, job.id, job.name, evidence.read_at, str(error), 1)
        return replace(job, unreadable=str(error)), DayCounts(), [found]
    findings = [_certified(one) for one in verdict.findings if since <= one.at < until]
    fires = [*(fire.at for fire in results.fires), *(one.at for one in results.absent if one.why == NOT_OWED)]
    return replace(job, fires=sorted(fires), absent=results.absent), count(results.fires), findings


def _certified(one: FireFinding) -> CertifiedFinding:
    return CertifiedFinding(one.fault, one.job_id, one.job, one.at, one.said, one.fires)
