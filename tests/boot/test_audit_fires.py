"""`horae audit fires`: what it says, and what `--repair` does about it."""

import asyncio
import json

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole
from tests.fire_audit.fleet import Fleet
from tests.steps import query


@pytest.fixture
def audit_fires(cells, monkeypatch):
    monkeypatch.setenv("HORAE_CELLS", json.dumps([{"name": cell.name, "dsn": cell.dsn} for cell in cells]))
    monkeypatch.setenv("HORAE_ENVIRONMENT", "test")

    async def call(*words, status=0):
        done = await asyncio.to_thread(CliRunner().invoke, whole(), ["audit", "fires", *words])
        assert done.exit_code == status, done.output
        return done.output

    return call


async def test_missing_fires_are_backfilled_and_cursors_planned_again(ctx, store, audit_fires):
    fleet = Fleet(ctx, store, 20, by_name=True)
    await fleet.write()
    span = ("--since", fleet.since.isoformat(), "--until", fleet.until.isoformat())
    assert json.loads(await audit_fires(*span, "--json"))["findings"] == []
    lost, jumped, doubled = fleet.jobs[0], fleet.jobs[5], fleet.jobs[6]
    for at in lost.fires[3:5]:
        statement = "delete from instance_history where job_id = $1 and fire_time = $2"
        await query(store.cell(lost.shard), statement, lost.id, at)
    statement = "update job_cursor set next_fire_at = next_fire_at + interval '2 hours' where job_id = $1"
    await query(store.cell(jumped.shard), statement, jumped.id)
    found = json.loads(await audit_fires(*span, "--json", status=1))["findings"]
    assert sorted(one["fault"] for one in found) == ["MISSING", "MISSING", "STANDS_STILL"]
    done = json.loads(await audit_fires(*span, "--repair", "--json"))["repairs"]
    assert sorted((one["job"], one["findings"]) for one in done) == [(lost.name, 2), (jumped.name, 1)]
    [made] = await query(store.cell(lost.shard), "select range_from, planned from backfill where job_id = $1", lost.id)
    assert tuple(made) == (lost.fires[3], 2)
    after = json.loads(await audit_fires(*span, "--json", status=1))["findings"]
    assert [one["fault"] for one in after] == ["MISSING", "MISSING"]  # the backfill has not run yet
    doubling = """insert into instance_history
                  select (jsonb_populate_record(h, jsonb_build_object('id', gen_random_uuid()))).*
                  from instance_history h where h.job_id = $1 and h.fire_time = $2"""
    await query(store.cell(doubled.shard), doubling, doubled.id, doubled.fires[4])
    assert "DOUBLED" in await audit_fires(*span, "--repair", status=1)  # for a person
