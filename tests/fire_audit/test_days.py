"""Days of real fires by a real node, audited by a second implementation."""

import pytest

from horae.service.audit.fires import AuditRange, audit_fires, sum_up
from horae.service.jobs import jobs
from tests.fire_audit.days import BEGIN, live_through
from tests.fire_audit.faults import FAULTS, PlantedFault
from tests.steps import query


@pytest.mark.horae(at=BEGIN, cells=2)
def test_nothing_is_found_in_days_of_everything_that_may_happen_and_each_planted_fault_is(horae):
    begin = live_through(horae)
    found = audit(horae, begin)
    assert findings(found) == []
    counts = sum_up(one.verdict.counts for one in found)
    assert (counts.missing, counts.undecided) == (0, 0)
    assert counts.skipped == {"PAUSED": 25, "MISFIRE": 7, "CALENDAR": 4, "REQUESTED": 1, "DST_GAP": 1}
    assert counts.states == {"SUCCESS": 153, "SKIPPED": 38, "DEAD": 5}
    for planted in FAULTS.values():
        plant(horae, planted)
    assert findings(audit(horae, begin)) == sorted(
        (planted.job, fault) for planted in FAULTS.values() for fault in planted.found
    )


def audit(horae, begin):
    async def collect():
        wanted = AuditRange(begin, horae.now)
        return [one async for one in audit_fires(horae._world.ctx.store.cells, wanted)]

    return horae._do(collect())


def findings(audited):
    return sorted((finding.job, finding.fault) for one in audited for finding in one.verdict.findings)


def plant(horae, planted: PlantedFault):
    ctx = horae._world.ctx
    job = horae._do(jobs.find(ctx, planted.job))
    for statement in planted.statements:
        horae._do(query(ctx.store.cell(job.shard), statement, job.id))
