"""Requests about the audit log."""

from datetime import date, datetime

from horae_client.asked.jobs import stamp
from horae_client.models import AuditChain, AuditEntry, Certificate, CertifiedDays, Page
from horae_client.wire import Request, path, said


def entries(
    since: datetime | None, until: datetime | None, actor: str | None, action: str | None, resource: str | None
) -> Request[Page[AuditEntry]]:
    """Get a page of the audit log."""
    query = said(since=stamp(since), until=stamp(until), actor=actor, action=action, resource=resource)
    return Request("GET", path("audit"), Page[AuditEntry], query=query)


def certificate(day: date) -> Request[Certificate]:
    """Get the certificate of a day."""
    return Request("GET", path("certificates", day.isoformat()), Certificate)


def certificates(since: date, until: date) -> Request[CertifiedDays]:
    """Get the certified days of a range."""
    return Request("GET", path("certificates"), CertifiedDays, query={"since": str(since), "until": str(until)})


def chains() -> Request[list[AuditChain]]:
    """Get the head of each cell's hash chain."""
    return Request("GET", path("audit", "chain"), list[AuditChain])
