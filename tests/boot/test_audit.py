"""The audit log from the command line: verified, anchored, and named where it was touched."""

import json

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole
from horae.domain.schedules import Misfire, OnMisfire, Policies
from horae.domain.schedules.triggers import cron
from horae.service.jobs import jobs
from horae.upkeep.anchors import read
from horae.upkeep.audit_chain import AuditChainer
from tests.steps import Looker, a_job, move_clock, query
from tests.upkeep.auditing import omnipotent


@pytest.fixture
def horae(cells, monkeypatch, tmp_path):
    monkeypatch.setenv("HORAE_CELLS", json.dumps([{"name": cell.name, "dsn": cell.dsn} for cell in cells]))
    monkeypatch.setenv("HORAE_ENVIRONMENT", "test")
    monkeypatch.setenv("HORAE_AUDIT_ANCHORS", str(tmp_path / "anchors"))

    def call(*words, status=0):
        done = CliRunner().invoke(whole(), ["audit", *words])
        assert done.exit_code == status, done.output
        return done.output

    return call


async def test_a_log_is_verified_anchored_and_its_first_bad_block_named(horae, ctx, store, tmp_path):
    import asyncio

    for number in range(6):
        await a_job(ctx, f"j{number}")
        await AuditChainer(store).once()
    said = json.loads(await asyncio.to_thread(horae, "verify", "--json"))
    assert said["ok"]
    assert sum(cell["rows"] for cell in said["cells"]) == len(await query(store, "select from audit_log"))
    assert "heads noted" in await asyncio.to_thread(horae, "anchor")
    assert len(read(tmp_path / "anchors")) == 2
    assert "anchors agree" in await asyncio.to_thread(horae, "verify")

    [cell] = [one for one in store.cells if one is store.cell((await jobs.find(ctx, "j3")).shard)]
    async with omnipotent(cell) as god:
        bad = await god.fetchval(
            "update audit_log a set actor = 'nobody' from audit_block b"
            " where a.detail ->> 'name' = 'j3' and a.xid >= b.from_xid and a.xid < b.until_xid returning b.number"
        )
    said = json.loads(await asyncio.to_thread(horae, "verify", "--json", status=1))
    [found] = [one for one in said["cells"] if one["fault"]]
    assert (found["cell"], found["fault"]["block"]) == (cell.name, bad)
    assert f"block {bad}" in await asyncio.to_thread(horae, "verify", "--cell", cell.name, status=1)
    assert "no cell" in await asyncio.to_thread(horae, "verify", "--cell", "nowhere", status=1)


async def test_fires_are_audited_and_a_missing_one_is_named(horae, ctx, store):
    import asyncio

    job = await a_job(ctx, "hourly", cron("0 * * * *"), policies=Policies(misfire=Misfire(OnMisfire.ALL)))
    await move_clock(store, hours=5)
    for cell in store.cells:
        await Looker(store, cell).once()
    said = json.loads(await asyncio.to_thread(horae, "fires", "--json"))
    assert (said["jobs"], said["missing"], said["findings"]) == (1, 0, [])
    assert said["expected"] in {4, 5}  # the last one may be too young
    assert "each has one verdict" in await asyncio.to_thread(horae, "fires", "--tenant", "acme")
    await query(store, "delete from instance_live where fire_time = $1", job.next_fire_at)
    said = json.loads(await asyncio.to_thread(horae, "fires", "--json", status=1))
    [finding] = said["findings"]
    assert (finding["fault"], finding["job"]) == ("MISSING", "hourly")
    assert "MISSING" in await asyncio.to_thread(horae, "fires", status=1)
    await query(store, "insert into dropped_day values (now(), now()::date + 1, 'instance_history')")
    assert "dropped" in await asyncio.to_thread(horae, "fires", status=1)
