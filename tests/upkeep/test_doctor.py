"""Who holds a snapshot for too long is told of, and ended where a deployment asks for that."""

from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
import pytest
from structlog.testing import capture_logs

from horae.boot.node_parts import doctor_of
from horae.runtime.settings import Settings
from horae.store.cells import Cell
from horae.store.health import health
from horae.upkeep import doctor
from horae.upkeep.doctor import Doctor
from tests.steps import until

SOON = timedelta(milliseconds=50)


@pytest.fixture
def soon(monkeypatch):
    """What is a minute in earnest is a moment here."""
    monkeypatch.setattr(doctor, "MAX_SNAPSHOT_AGE", SOON)
    monkeypatch.setattr("horae.domain.health.doctor.MAX_SNAPSHOT_AGE", SOON)


@asynccontextmanager
async def reading(dsn):
    """Someone who reads and does not stop, for longer than a moment."""
    reader = await asyncpg.connect(dsn, server_settings={"application_name": "report"})
    try:
        await reader.execute("begin isolation level repeatable read")
        await reader.fetch("select count(*) from job_cursor")
        yield reader
    finally:
        reader.terminate()


async def held_for_long(cell):
    async with Cell("x", cell.dsn).direct() as connection:
        return await connection.fetchval(
            "select count(*) from pg_stat_activity where application_name = 'report' and backend_xmin is not null"
            " and datname = current_database() and clock_timestamp() - xact_start > $1",
            SOON,
        )


async def test_a_held_snapshot_is_told_once_when_it_is_long_and_once_when_it_is_over(store, cells, soon):
    visits = Doctor(store)
    await visits.once()
    assert "oldest snapshot" not in visits.degraded["cell-0"]
    async with reading(cells[0].dsn) as reader:
        await until(lambda: held_for_long(cells[0]))
        with capture_logs() as logs:
            assert await visits.once() == await visits.once() == 0
        alarms = [line for line in logs if line["event"] == "cell.degraded"]
        assert [(line["log_level"], line["cell"], line["what"]) for line in alarms] == [
            ("error", "cell-0", "oldest snapshot")
        ]
        assert {line["application"] for line in logs if line["event"] == "snapshot.held"} == {"report"}
        assert await reader.fetchval("select 1") == 1, "nobody asked us to end it"
    await until(lambda: gone(cells[0]))
    with capture_logs() as logs:
        await visits.once()
    assert [line["what"] for line in logs if line["event"] == "cell.recovered"] == ["oldest snapshot"]


async def gone(cell):
    return not await held_for_long(cell)


async def test_a_snapshot_held_beyond_the_limit_is_ended_and_a_shorter_one_is_not(store, cells, soon):
    async with reading(cells[0].dsn):
        await until(lambda: held_for_long(cells[0]))
        assert await Doctor(store, timedelta(hours=1)).once() == 0
        assert await Doctor(store, SOON).once() == 1
        await until(lambda: gone(cells[0]))  # what the driver says of a connection that just ended differs
    assert await Doctor(store, SOON).once() == 0


async def test_a_session_that_began_another_transaction_meanwhile_is_left_alone(store, cells):
    cell = store.cells[0]
    async with reading(cells[0].dsn) as reader:
        async with cell.statement() as tx:
            [holder] = await health.holders(tx, timedelta())
        await reader.execute("commit")
        await reader.execute("begin isolation level repeatable read")
        await reader.fetch("select count(*) from job_cursor")
        async with cell.statement() as tx:
            assert not await health.end(tx, holder._replace(age=timedelta(seconds=30)))
        assert await reader.fetchval("select 1") == 1


async def test_old_transaction_ids_are_an_alarm(store, monkeypatch):
    told = health.facts

    async def old(tx, **given):
        return (await told(tx, **given))._replace(frozen_age=500_000_001, multixact_age=100_000_001)

    monkeypatch.setattr(doctor.health, "facts", old)
    with capture_logs() as logs:
        await Doctor(store).once()
    whats = {line["what"] for line in logs if line["event"] == "cell.degraded"}
    assert {"age(datfrozenxid)", "mxid_age(datminmxid)"} <= whats


async def test_a_database_that_need_not_be_durable_is_no_alarm_in_dev(store):
    strict, lenient = Doctor(store), doctor_of(Settings(environment="dev"), store)
    await strict.once()
    with capture_logs() as logs:
        await lenient.once()
    assert {"fsync", "full_page_writes", "synchronous_commit"} <= strict.degraded["cell-0"].keys()
    assert not [line for line in logs if line["event"] == "cell.degraded"]
