"""A database whose clock jumps hours ahead fires nothing early (R-03). Nodes never read a wall clock."""

import ast
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

import horae
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.store.databases import clock
from horae.store.nodes import leases as rows
from horae.store.store import Store
from tests.engine.fleet import every_fire_has_one_row, steady
from tests.engine.running import running
from tests.steps import a_job, query, until

LONG = (pytest.mark.long, pytest.mark.timeout(3600))
SOURCE = Path(horae.__file__).parent
WALL = {"time", "now", "utcnow", "today"}


@pytest.mark.parametrize("jumps", [1, pytest.param(50, marks=LONG)])
@pytest.mark.parametrize("hours", [8])
async def test_a_database_clock_that_jumps_ahead_stops_its_cells_and_fires_nothing_early(
    ctx, store, catcher, monkeypatch, jumps, hours
):
    ahead, jobs = timedelta(), 20
    told = rows.reading_of
    monkeypatch.setattr(rows, "reading_of", lambda row: (said := told(row))._replace(reading=said.reading + ahead))
    anchor = store.cells[0].clock.now() + timedelta(minutes=30)
    await a_job(ctx, "later", IntervalTrigger(3600, anchor), target=HttpTarget(f"{catcher.url}/later"))
    await steady(ctx, store, catcher, jobs)
    async with running(store):
        for _ in range(jumps):
            seen = len(catcher.arrivals)
            await until(lambda seen=seen: len(catcher.arrivals) >= seen + jobs)
            with capture_logs() as logs:
                ahead = timedelta(hours=hours)
                await until(lambda: not any(cell.clock.trusted for cell in store.cells))
                await until(lambda: "clock.jumped" in [line["event"] for line in logs])
            ahead = timedelta()
            await until(lambda: catcher.now() < anchor)  # the next heartbeat says so
            for cell in store.cells:
                async with cell.statement() as tx:
                    await clock.vouch(tx)
            await until(lambda: all(cell.clock.trusted for cell in store.cells))
        seen = len(catcher.arrivals)
        await until(lambda: len(catcher.arrivals) >= seen + jobs)
    assert catcher.of("/later") == []
    assert set(catcher.effects.values()) == {1}
    await every_fire_has_one_row(store, jobs)


async def test_a_node_that_starts_while_a_clock_is_wrong_fires_nothing_early_either(
    ctx, store, cells, catcher, monkeypatch
):
    ahead = timedelta()
    told = clock.reading_of

    def moved(row):
        return (said := told(row))._replace(reading=said.reading + ahead)

    for module in (rows, clock):
        monkeypatch.setattr(module, "reading_of", moved)
    anchor = store.cells[0].clock.now() + timedelta(minutes=30)
    await a_job(ctx, "later", IntervalTrigger(3600, anchor), target=HttpTarget(f"{catcher.url}/later"))
    async with running(store):
        ahead = timedelta(hours=8)
        await until(lambda: not any(cell.clock.trusted for cell in store.cells))
        await until(lambda: doubted(store))
    async with Store.of(cells) as later, running(later):
        assert not any(cell.clock.trusted for cell in later.cells)
        assert all(cell.clock.now() < anchor for cell in later.cells)
        ahead = timedelta()
        await until(lambda: all(cell.clock.trusted for cell in later.cells))
        await until(lambda: believed(store))  # a node that trusts a clock records that a moment later
    assert catcher.of("/later") == []


async def doubted(store):
    """Whether every cell's clock is said to be wrong."""
    return all(row["doubt_ms"] for row in await query(store, "select doubt_ms from clock_offset"))


async def believed(store):
    """Whether no cell's clock is said to be wrong."""
    return not any(row["doubt_ms"] for row in await query(store, "select doubt_ms from clock_offset"))


def test_only_the_first_stock_of_partitions_and_the_programs_around_a_node_read_a_wall_clock():
    found = set()
    for room in ("engine", "repositories", "store", "delivery", "service", "runtime"):
        for file in (SOURCE / room).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WALL:
                    owner = node.func.value
                    if isinstance(owner, ast.Name) and owner.id in {"time", "datetime", "date"}:
                        found.add(str(file.relative_to(SOURCE)))
    log_lines = {"runtime/telemetry.py"}  # the time of a fact in a line, by the clock of the log
    log_lines |= {"delivery/brokers/rocketmq.py", "delivery/brokers/rocketmq_proxy.py"}  # when a message was made
    assert found <= {"store/migrations.py", "delivery/signing.py", "delivery/push.py", "delivery/oauth.py"} | log_lines
