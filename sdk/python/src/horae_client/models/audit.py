"""The audit log, its hash chains, and certificates."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from horae_client.models.base import Model


class AuditEntry(Model, frozen=True, kw_only=True):
    """One entry of the audit log: who did what to which resource, and when."""

    at: datetime
    actor: str
    action: str
    resource: str
    detail: Any = None


class AuditChain(Model, frozen=True, kw_only=True):
    """The head of a cell's hash chain. `block` is how many blocks it has, `dropped` the last one that was deleted."""

    cell: str
    block: int
    dropped: int
    hash: str | None = None
    chained_at: datetime | None = None
    rows: int | None = None


class CertifiedNumber(Model, frozen=True, kw_only=True):
    """A number of fires. `rows` is the address of the instances among which they are."""

    name: str
    fires: int
    reason: str | None = None
    rows: str | None = None


class CertifiedJob(Model, frozen=True, kw_only=True):
    """The numbers of one job."""

    id: str
    name: str
    numbers: Sequence[CertifiedNumber]


class CertifiedFinding(Model, frozen=True, kw_only=True):
    """A contradiction between the schedule and the rows. `fires` is how many fires it is about."""

    fault: str
    job_id: str
    job: str
    at: datetime
    message: str
    fires: int


class CertifiedDay(Model, frozen=True, kw_only=True):
    """What the newest certificate of a day says in total; without findings the day has no fault."""

    day: date
    revision: int
    made_at: datetime
    expected: int
    on_time: int
    late: int
    waiting: int
    dead: int
    cancelled: int
    skipped: int
    undecided: int
    missing: int
    findings_count: int


class CertifiedDays(Model, frozen=True, kw_only=True):
    """The certified days of a range. `newest` is the newest day that can have a certificate now."""

    newest: date
    days: Sequence[CertifiedDay]


class Certificate(Model, frozen=True, kw_only=True):
    """What became of every fire of a day that should exist, signed. It has at most 1,000 jobs and findings."""

    tenant: str
    day: date
    revision: int
    made_at: datetime
    read_at: datetime
    on_time_seconds: float
    digest: str
    key: str
    signature: str
    total: Sequence[CertifiedNumber]
    jobs: Sequence[CertifiedJob]
    jobs_count: int
    findings: Sequence[CertifiedFinding]
    findings_count: int
