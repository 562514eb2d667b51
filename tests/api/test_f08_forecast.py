"""F8: whatever jobs a tenant has, a forecast of them keeps nobody else waiting.

Work is counted in executed lines of our own rules: between two turns of the event loop there are few of them.
"""

import asyncio
from contextlib import asynccontextmanager

import pytest

import horae.domain
from horae.security.roles import Role
from horae.store.tx import Tx
from tests.counting import counting

MOST_LINES = 60_000
"""Of one turn of the loop; about 10 ms without anyone who counts."""
ODD = {
    "often": {"trigger": {"kind": "interval", "every": 1.001}},
    "seconds": {"cron": "* * * * * *"},
    "jitter": {"cron": "*/5 * * * * *", "policies": {"spread": {"jitter": 3}}},
    "counted": {"cron": "*/20 * * * * *", "policies": {"max_count": 1_000_000}},
    "weekdays": {"trigger": {"kind": "interval", "every": 1.5}, "policies": {"calendars": [{"calendar": "days"}]}},
}
DAYS = {"first": "2020-01-01", "last": "2036-12-31", "weekdays": [1, 2, 3, 4, 5, 6, 7]}


@asynccontextmanager
async def beating(steps):
    """Notes how many lines were executed at most between two turns of the loop."""
    turns = []

    async def beat():
        while True:
            before = steps.lines
            await asyncio.sleep(0)
            turns.append(steps.lines - before)

    task = asyncio.create_task(beat())
    yield turns
    counted = len(turns)
    while len(turns) == counted:  # the last turn counts too
        await asyncio.sleep(0)
    task.cancel()


@pytest.fixture
async def viewer(admin, client):
    assert (await admin.put("/calendars/days", json=DAYS)).status_code in {200, 201}
    for name, facts in ODD.items():
        made = await admin.post("/jobs", json={"name": name, **facts})
        assert made.status_code == 201, made.text
    return await client(Role.VIEWER)


@pytest.mark.parametrize("path", ["/forecast?hours=2", "/jobs/jitter/preview?many=500"])
async def test_no_turn_of_the_loop_is_long_while_a_viewer_asks_for_what_is_coming(viewer, path):
    with counting(horae.domain) as steps:
        async with beating(steps) as turns:
            told = await viewer.get(path)
    assert told.status_code == 200, told.text
    assert max(turns) < MOST_LINES


async def test_a_forecast_of_odd_schedules_counts_every_fire(viewer):
    told = (await viewer.get("/forecast", params={"hours": 1})).json()
    assert len(told["per_minute"]) == 60
    expected = 3600 / 1.001 + 3600 + 720 + 180 + 2400
    assert abs(told["total"] - expected) <= 5
    assert (told["jobs"], told["complete"]) == (5, True)


async def test_jobs_that_name_a_calendar_cost_a_forecast_no_statement_each(admin, viewer, monkeypatch):
    async def asked():
        statements.clear()
        assert (await viewer.get("/forecast", params={"hours": 1})).status_code == 200
        return len(statements)

    statements, rows = [], Tx.rows
    monkeypatch.setattr(Tx, "rows", lambda tx, text, *args: statements.append(text) or rows(tx, text, *args))
    few = await asked()
    for n in range(10):
        rules = {"calendars": [{"calendar": "days"}]}
        assert (await admin.post("/jobs", json={"name": f"j{n}", "cron": "0 3 * * *", "policies": rules})).is_success
    assert await asked() == few


async def test_a_forecast_reads_no_payloads(admin, client, monkeypatch):
    """20,000 jobs with 64 KB each would not fit into the process."""
    for number in range(3):
        made = {"name": f"large-{number}", "cron": "0 * * * *", "payload": {"text": "x" * 60_000}}
        assert (await admin.post("/jobs", json=made)).status_code == 201
    viewer, read, rows_of = await client(Role.VIEWER), [], Tx.rows

    async def weighed(tx, statement, *args):
        rows = await rows_of(tx, statement, *args)
        read.append(sum(len(str(tuple(row))) for row in rows))
        return rows

    monkeypatch.setattr(Tx, "rows", weighed)
    told = await viewer.get("/forecast?hours=2")
    assert (told.status_code, told.json()["jobs"]) == (200, 3)
    assert 0 < sum(read) < 20_000
