"""A cell is added to a running deployment, gets shards, is drained under load, and is removed when nothing is in it."""

import asyncio
import json
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from signal import SIGTERM
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole
from horae.delivery.client import Client
from horae.runtime.settings import CellSettings
from horae.service.moves import moves
from horae.store.store import Store
from horae.upkeep import move_steps
from horae.upkeep.days import DayDropper
from horae.upkeep.shard_mover import ShardMover
from tests.catcher import catching
from tests.egress import ANYWHERE
from tests.engine.fleet import another, every_fire_has_one_row, steady
from tests.engine.running import GRACE, TTL
from tests.keyring import sealed
from tests.nodes import node_in
from tests.steps import move_clock, query, until
from tests.system.children import Child

JOBS = 60
PERIOD_S = 2
LONG = 240.0
LOOK_INTERVAL_S = 0.2
ALL_MOVES_TIMEOUT_S = 1800.0
pytestmark = pytest.mark.timeout(600)
UNFINISHED = "select from shard_move where ended_at is null"
FIRING = "select distinct shard_id from job_cursor order by shard_id"


@pytest.fixture
async def new_cell(cluster):
    """An empty database of the tests' own server."""
    name = await cluster.make_empty()
    yield CellSettings(name="cell-2", dsn=cluster.dsn(name))
    await cluster.drop([name])


@pytest.fixture
def cell_command(monkeypatch):
    """Runs `horae cell …` with these cells in its settings, and checks its status."""

    def call(cells, *words, status=0):
        monkeypatch.setenv("HORAE_CELLS", json.dumps([cell.model_dump() for cell in cells]))
        done = CliRunner().invoke(whole(), ["cell", *words])
        assert done.exit_code == status, (done.output, done.exception)
        return " ".join(done.output.split())

    return lambda *words, **facts: asyncio.to_thread(call, *words, **facts)


async def moves_have_ended(store):
    await asyncio.sleep(LOOK_INTERVAL_S)
    return not await query(store, UNFINISHED)


@asynccontextmanager
async def new_node(cells):
    """A node that also knows the new cell, which has no shard to hold yet."""
    async with Store.of(cells) as own:
        node = node_in(own, "new", TTL, Client(ANYWHERE))
        await node.start()
        try:
            yield node
        finally:
            await node.stop(GRACE)


async def fires_from(cell, since):
    """Whether a job has fired in a cell after a time."""
    await asyncio.sleep(LOOK_INTERVAL_S)
    return bool(await query(cell, "select from instance_history where fire_time > $1 limit 1", since))


async def check_additions(cell_command, cells, new_cell):
    """Add the cell once; a second time it is refused."""
    assert "horae shard rebalance" in await cell_command(cells, "add", "cell-2", "--dsn", new_cell.dsn)
    assert "not empty" in await cell_command(cells, "add", "cell-3", "--dsn", new_cell.dsn, status=4)
    assert "already" in await cell_command([*cells, new_cell], "add", "cell-2", "--dsn", new_cell.dsn, status=4)


async def fill_and_drain(ctx, store, ask, wait, refused):
    """Move shards into the new cell, let them fire there, and drain it. `refused` says why it may not be removed."""
    added = store.cells[2]
    assert store.shards_of(added) == [], "nothing moves by itself"
    await ask(ctx)
    await until(wait, ALL_MOVES_TIMEOUT_S)
    await store.learn_shards()
    filled = added.clock.now()
    await until(lambda: fires_from(added, filled), LONG)
    assert "shard drain" in await refused()
    await moves.request_drain(ctx, "cell-2")
    assert "have not ended" in await refused()
    await until(wait, ALL_MOVES_TIMEOUT_S)
    await store.learn_shards()
    assert store.shards_of(added) == []
    assert "archived nor expired" in await refused()


async def check_removal(store, catcher, cell_command, cells):
    """Nothing was lost or doubled; when its last day has expired, the cell may be removed."""
    assert await every_fire_has_one_row(store, JOBS, PERIOD_S) > JOBS
    assert {one.idempotency_key for one in catcher.arrivals} == set(catcher.effects)
    await move_clock(store, days=3)
    await DayDropper(store, timedelta(days=1), timedelta(0)).once()
    assert "may be removed" in await cell_command(cells, "remove", "cell-2")


async def test_a_cell_is_added_gets_shards_is_drained_and_removed_while_jobs_fire(
    ctx, store, cells, new_cell, cell_command, monkeypatch
):
    monkeypatch.setattr(move_steps, "ROWS_KEPT", timedelta(seconds=0.2))
    every_cell = [*cells, new_cell]
    async with catching(store.cells[0].clock.now) as catcher, AsyncExitStack() as old:
        await steady(ctx, store, catcher, JOBS, PERIOD_S)
        await old.enter_async_context(another(cells))
        await until(lambda: len(catcher.arrivals) > 0, LONG)
        await check_additions(cell_command, cells, new_cell)
        async with Store.of(every_cell) as whole_store:
            mover = ShardMover(whole_store, uuid4())
            chosen = [row["shard_id"] for row in await query(store, FIRING)]

            async def has_moved():
                await mover.once()
                return await moves_have_ended(whole_store)

            async with new_node(every_cell):
                await old.aclose()
                await fill_and_drain(
                    ctx._replace(store=sealed(whole_store)),
                    whole_store,
                    lambda ctx: moves.request_moves(ctx, chosen, "cell-2"),
                    has_moved,
                    lambda: cell_command(every_cell, "remove", "cell-2", status=4),
                )
            await check_removal(whole_store, catcher, cell_command, every_cell)


@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_processes_fill_a_new_cell_by_rebalance_and_drain_it_while_jobs_fire(
    ctx, store, cells, new_cell, cell_command, started, record_property
):
    every_cell = [*cells, new_cell]
    async with catching(store.cells[0].clock.now) as catcher:
        await steady(ctx, store, catcher, JOBS, PERIOD_S)
        old = started(Child, cells, "node", number="1", HORAE_LEASE_TTL="2")
        await until(lambda: len(catcher.arrivals) > 0, LONG)
        await check_additions(cell_command, cells, new_cell)
        new = started(Child, every_cell, "node", number="2", HORAE_LEASE_TTL="2")
        async with Store.of(every_cell) as whole_store:
            old.signal(SIGTERM)
            await old.ended(LONG)
            await fill_and_drain(
                ctx._replace(store=sealed(whole_store)),
                whole_store,
                moves.request_rebalance,
                lambda: moves_have_ended(whole_store),
                lambda: cell_command(every_cell, "remove", "cell-2", status=4),
            )
            new.signal(SIGTERM)
            await new.ended(LONG)
            [made] = await query(whole_store.cells[2], "select count(*) as many from shard_move")
            record_property("shards", made["many"])
            await check_removal(whole_store, catcher, cell_command, every_cell)


async def test_a_cell_that_nobody_knows_is_not_removed(cell_command, cells):
    assert "no cell" in await cell_command(cells, "remove", "cell-9", status=3)


async def test_a_cell_that_cannot_be_reached_is_not_added(cell_command, cells):
    await cell_command(cells, "add", "cell-9", "--dsn", "postgresql://nobody@127.0.0.1:1/x", status=5)
