"""The audit log from the command line: verified, anchored, and named where it was touched."""

import json

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole
from horae.service.jobs import jobs
from horae.upkeep.anchors import read
from horae.upkeep.audit_chain import AuditChainer
from tests.steps import a_job, query
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
