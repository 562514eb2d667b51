"""A person decides about a measure: nodes follow, the decision is audited, and lifting it ends it."""

import asyncio
import json

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole
from horae.domain.measures.in_force import NO_MEASURES, in_force
from horae.domain.measures.measures import MeasureAction, MeasureName, latest
from horae.store.measures import measures
from tests.steps import query

DELAY = MeasureName.TRIGGER_DELAY_P95.value


@pytest.fixture
def horae(cells, monkeypatch):
    monkeypatch.setenv("HORAE_CELLS", json.dumps([{"name": cell.name, "dsn": cell.dsn} for cell in cells]))
    monkeypatch.setenv("HORAE_ENVIRONMENT", "test")

    async def call(*words, status=0):
        done = await asyncio.to_thread(CliRunner().invoke, whole(), ["measure", *words])
        assert done.exit_code == status, done.output
        return done.output

    return call


async def known(store):
    copies = []
    for cell in store.cells:
        async with cell.statement() as tx:
            copies.append(await measures.read(tx))
    return in_force(latest(copies), store.clock.now())


async def test_a_decision_goes_before_the_signal_until_it_is_lifted(horae, store, tenant):
    assert "no measure is in force" in await horae("list")
    assert f"{DELAY} is on" in await horae("override", DELAY, "--on", "--reason", "a herd comes at nine")
    assert (await known(store)).platform == {MeasureAction.PAUSE_LOW, MeasureAction.ASK_FOR_DISPATCHERS}
    [listed] = json.loads(await horae("list", "--json"))
    assert (listed["measure"]["name"], listed["actions"]) == (DELAY, ["ASK_FOR_DISPATCHERS", "PAUSE_LOW"])
    await horae("override", DELAY, "--off", "--minutes", "5", "--reason", "it did not come")
    assert await known(store) is NO_MEASURES
    await horae("override", DELAY, "--on", "--tenant", tenant.name, "--reason", "its own herd")
    assert set((await known(store)).tenants) == {tenant.id}
    await horae("lift", DELAY, "--tenant", tenant.name, "--reason", "over")
    assert await known(store) is NO_MEASURES


async def test_every_decision_is_recorded_with_its_reason_for_whom_it_concerns(horae, store, tenant):
    await horae("override", DELAY, "--on", "--tenant", tenant.name, "--reason", "theirs")
    await horae("lift", DELAY, "--reason", "everybody's")
    rows = await query(store, "select tenant_id, detail from audit_log where action = 'measure.overridden' order by at")
    assert [row["detail"]["reason"] for row in rows] == ["theirs", "everybody's"]
    assert [row["tenant_id"] == tenant.id for row in rows] == [True, False]
    assert len(await query(store, "select from outbox where event = 'MEASURE_OVERRIDDEN'")) == 2


async def test_a_decision_needs_a_reason_an_end_and_a_name_that_exists(horae):
    await horae("override", DELAY, "--on", status=2)
    await horae("override", "weather", "--on", "--reason", "rain", status=2)
    assert "7 days" in await horae("override", DELAY, "--on", "--minutes", "20000", "--reason", "for ever", status=1)
