"""`horae recover …`: an incident is started, shown, listed and stopped from a terminal, past the API."""

import asyncio
import json
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole
from horae.boot.output import Exit
from horae.upkeep.recovery import RecoveryExecutor
from tests.steps import query
from tests.upkeep.recovering import hold_shards


@pytest.fixture
def horae(cells, monkeypatch):
    monkeypatch.setenv("HORAE_CELLS", json.dumps([{"name": cell.name, "dsn": cell.dsn} for cell in cells]))
    monkeypatch.setenv("HORAE_ENVIRONMENT", "test")

    async def call(*words, status=0):
        done = await asyncio.to_thread(CliRunner().invoke, whole(), ["recover", *words])
        assert done.exit_code == status, done.output
        return done.output

    return call


async def test_an_incident_from_its_start_to_its_stop(horae, store, tenant):
    assert "there was no incident" in await horae("list")
    started = json.loads(await horae("start", "--grade", "P2", "--reason", "retries pile up", "--json"))
    assert (started["grade"], started["step"]) == ("P2", "FREEZE")
    assert "is open since" in await horae("start", "--grade", "P1", "--reason", "again", status=Exit.CONFLICT)
    await hold_shards(store)
    await RecoveryExecutor(store, uuid4()).once()
    shown = await horae("status")
    assert "AUDIT" in shown
    assert "RTO" in shown
    assert started["id"] in await horae("stop", "--reason", "a false alarm")
    await RecoveryExecutor(store, uuid4()).once()
    rows = await query(store, "select actor, detail from audit_log where action like 'incident.%' order by at")
    assert [row["detail"]["reason"] for row in rows] == ["retries pile up", "a false alarm"]
    [listed] = json.loads(await horae("list", "--json"))
    assert listed["stop_requested"] is True


async def test_a_start_needs_a_grade_and_a_reason(horae):
    await horae("start", "--reason", "x", status=2)
    await horae("start", "--grade", "P1", status=2)
    await horae("status", status=Exit.NOT_FOUND)


async def test_a_start_tries_again_while_no_cell_answers(monkeypatch):
    monkeypatch.setenv("HORAE_CELLS", json.dumps([{"name": "gone", "dsn": "postgresql://horae@127.0.0.1:9/none"}]))
    words = ["recover", "start", "--grade", "P1", "--reason", "lost", "--wait", "2"]
    done = await asyncio.to_thread(CliRunner().invoke, whole(), words)
    assert done.exit_code == Exit.UNAVAILABLE, done.output
