"""The step of recovery that compares fires with those that should exist."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final

from horae.domain.errors import Unavailable
from horae.domain.fire_audit.comparison import GRACE
from horae.domain.incidents.incidents import Incident, RecoveryStep
from horae.runtime.clock import boottime
from horae.service.audit.fires import AuditRange, audit_fires, sum_up
from horae.store.incidents import entries
from horae.store.protocol import CellProtocol, StoreProtocol

BEFORE_FAULT: Final = timedelta(minutes=1)
"""How long before the fault the compared range begins."""
MAX_NAMED_FINDINGS: Final = 20
"""Findings that the timeline names."""
LEASE_RENEWAL_S: Final = 3.0


async def audit_incident(
    store: StoreProtocol, home: CellProtocol, incident: Incident, is_ours: Callable[[], Awaitable[bool]]
) -> dict[str, Any] | None:
    """Compare the fires from the fault until everything was on time again. Returns figures for the timeline.

    None: the last of these fires are too young to be judged. `is_ours` renews the lease of the incident meanwhile.
    """
    async with home.statement() as tx:
        ends = {one.step: one.at for one in await entries.listing(tx, incident.id, home.name) if not one.part}
    until = ends.get(RecoveryStep.CATCH_UP, incident.changed_at)
    if home.clock.now() < until + GRACE:
        return None
    counts, findings, renewed_at = [], [], boottime()
    async for one in audit_fires(store.cells, AuditRange(incident.fault_at - BEFORE_FAULT, until)):
        counts.append(one.verdict.counts)
        findings += one.verdict.findings
        if boottime() - renewed_at > LEASE_RENEWAL_S:
            renewed_at = boottime()
            if not await is_ours():
                raise Unavailable("another node has gone on with the incident")
    total = sum_up(counts)
    named = [{"fault": one.fault, "job": one.job, "at": one.at.isoformat()} for one in findings[:MAX_NAMED_FINDINGS]]
    return {"jobs": len(counts), "expected": total.expected, "findings": len(findings), "named": named}
