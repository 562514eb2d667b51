"""Faults planted among many fires: each is found, and nothing else is."""

import asyncio
import time
from collections import defaultdict

import pytest

from horae.domain.cron import CronExpression
from horae.service.audit.fires import AuditRange, audit_fires, sum_up
from horae.store.audit import fires
from tests.fire_audit.archived import ArchivedFleet
from tests.fire_audit.fleet import Fleet
from tests.fire_audit.fleet_faults import plant


async def found_in(fleet, store, target=None):
    """The verdict counts, and the kinds of findings of each job that has some."""
    wanted = AuditRange(fleet.since, fleet.until)
    found = defaultdict(set)
    counts = []
    async for one in audit_fires(store.cells, wanted, target):
        counts.append(one.verdict.counts)
        for finding in one.verdict.findings:
            found[finding.job_id].add(finding.fault)
    return sum_up(counts), found


async def test_a_hundred_faults_among_ten_thousand_fires_are_found_and_nothing_else(ctx, store, tmp_path):
    fleet = Fleet(ctx, store, 450)
    await fleet.write()
    counts, found = await found_in(fleet, store)
    assert found == {}
    assert counts.expected == fleet.fires > 10_000
    archived = ArchivedFleet(fleet, tmp_path)
    planted = await plant(fleet, archived, 100)
    assert len(planted) == 100
    assert (await found_in(fleet, store, archived.target))[1] == planted


async def test_a_fire_costs_one_step_of_its_schedule_and_few_rows_are_read_one_by_one(ctx, store, monkeypatch):
    fleet = Fleet(ctx, store, 200)
    await fleet.write()
    rows, steps = [], []
    made, find = fires.RecordedFire, CronExpression.find
    monkeypatch.setattr(fires, "RecordedFire", lambda *columns: rows.append(1) or made(*columns))
    monkeypatch.setattr(CronExpression, "find", lambda *args: steps.append(1) or find(*args))
    await found_in(fleet, store)
    several = sum(job.paused is not None or job.backfilled is not None or job.moved for job in fleet.jobs)
    assert len(rows) <= fleet.fires * several / len(fleet.jobs) * 1.1  # those of a plain job are lists of times
    assert len(steps) <= fleet.fires * 1.25  # and a few for the end of the range, the next fire and backfills


@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_a_thousand_faults_among_a_million_fires_are_found_and_nothing_else(
    ctx, store, tmp_path, record_property
):
    fleet = await asyncio.to_thread(Fleet, ctx, store, 50_000)  # ten seconds of computing
    await fleet.write()
    began, used = time.monotonic(), time.process_time()
    counts, found = await found_in(fleet, store)
    record_property("seconds", round(time.monotonic() - began, 1))
    record_property("cpu_us_per_fire", round((time.process_time() - used) / fleet.fires * 1e6, 1))
    record_property("fires", fleet.fires)
    assert found == {}
    assert counts.expected == fleet.fires > 1_000_000
    archived = ArchivedFleet(fleet, tmp_path)
    planted = await plant(fleet, archived, 1_000)
    assert len(planted) == 1_000
    _, found = await found_in(fleet, store, archived.target)
    record_property("planted", len(planted))
    record_property("found", sum(found.get(job) == faults for job, faults in planted.items()))
    record_property("false", len(found.keys() - planted.keys()))
    assert found == planted
