"""Clock, leases, copies and partitions."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from horae.domain.errors import Conflict, ShardClosed
from horae.runtime.randomness import new_token
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.store.cells import Cell
from horae.store.databases import clock, partitions
from horae.store.nodes import leases
from horae.store.store import Store
from horae.upkeep.copies import Copier
from horae.upkeep.partitions import Partitioner
from tests.steps import a_type, move_clock, name_in, query

TTL = timedelta(seconds=8)


async def test_the_clock_is_the_databases_and_moves_for_all_at_once(store, cells):
    before = [cell.clock.now() for cell in store.cells]
    await move_clock(store, hours=3)
    async with Store.of(cells) as other:
        for cell, was in zip(other.cells, before, strict=True):
            assert timedelta(hours=3) <= cell.clock.now() - was < timedelta(hours=3, seconds=30)
            assert cell.clock.trusted


async def test_a_production_cells_clock_cannot_be_moved(store):
    cell = store.cells[0]
    await query(cell, "update cell set environment = 'production'")
    with pytest.raises(Conflict):
        async with cell.tx() as tx:
            await clock.move(tx, timedelta(seconds=1))


async def test_a_lease_goes_to_one_node_until_it_expires(store):
    one, two = new_token(), new_token()
    cell = store.cells[0]
    wanted = store.shards_of(cell)[:100]
    async with cell.tx() as tx:
        await leases.heartbeat(tx, one, "same-host", TTL)
        assert set(await leases.take(tx, one, wanted)) == set(wanted)
        assert await leases.is_held(tx, wanted[0])
    async with cell.tx() as tx:
        await leases.heartbeat(tx, two, "same-host", TTL)
        assert await leases.take(tx, two, wanted) == {}
    await move_clock(store, seconds=9)
    async with cell.tx() as tx:
        assert not await leases.is_held(tx, wanted[0])
        await leases.heartbeat(tx, two, "same-host", TTL)
        epochs = await leases.take(tx, two, wanted)
    assert set(epochs) == set(wanted)
    assert set(epochs.values()) == {3}  # opened, taken, taken over


async def test_a_node_hands_back_everything_at_once(store):
    one = new_token()
    cell = store.cells[1]
    wanted = store.shards_of(cell)
    async with cell.tx() as tx:
        await leases.heartbeat(tx, one, "n", TTL)
        await leases.take(tx, one, wanted)
    async with cell.tx() as tx:
        assert await leases.release(tx, one) == len(wanted)
        assert not await leases.is_held(tx, wanted[0])


async def test_two_nodes_that_ask_at_once_share_without_waiting_or_doubling(store):
    cell = store.cells[0]
    wanted = store.shards_of(cell)

    async def take():
        me = new_token()
        async with cell.tx() as tx:
            await leases.heartbeat(tx, me, "n", TTL)
        async with cell.tx() as tx:
            return set(await leases.take(tx, me, wanted))

    held = await asyncio.gather(*(take() for _ in range(4)))
    assert sum(map(len, held)) == len(set().union(*held)) == len(wanted)


async def test_types_and_tenants_reach_every_cell_and_the_newest_wins(ctx, store):
    job = await a_type(ctx)
    copier = Copier(store)
    assert await copier.once() == 3  # the tenant with its data key, and the type
    assert await copier.once() == 0
    await jobs.pause(ctx, job.name)
    assert await copier.once() == 1
    rows = await query(store, "select body ->> 'status' as status, version from reference where kind = 'job'")
    assert {(row["status"], row["version"]) for row in rows} == {("PAUSED", 2)}
    assert len(rows) == 2


async def test_a_change_committed_late_is_still_copied(ctx, store):
    """A copy is looked for 30 s back, and everywhere once a minute."""
    copier = Copier(store)
    await copier.once()
    home = store.cell(ctx.tenant.shard("LATE"))
    late = await home.pool.acquire()
    change = late.transaction()
    await change.start()
    await late.execute(
        "insert into reference values ($1, 1, $2, gen_random_uuid(), $3, 'job', 'LATE', '{}')",
        home.clock.now() - timedelta(seconds=9),
        ctx.tenant.shard("LATE"),
        ctx.tenant.id,
    )
    await copier.once()
    await change.commit()
    await home.pool.release(late)
    assert await copier.once() == 1


async def test_a_task_is_scheduled_by_the_copy_when_its_types_home_is_down(ctx, store, cells):
    job = await a_type(ctx)
    await Copier(store).once()
    home = store.cell(job.shard)
    other = next(cell for cell in store.cells if cell is not home)
    key = next(str(n) for n in range(1000) if store.cell(ctx.tenant.shard(f"{job.name}/{n}")) is other)
    fresh = Context.of(store, ctx.tenant, "test")
    pool, home._pool = home._pool, _Down()
    try:
        assert (await tasks.schedule(fresh, job.name, key)).decision == "created"
    finally:
        home._pool = pool


class _Down:
    def acquire(self, **_facts):
        raise ConnectionError("the home is down")

    def get_size(self):
        return 0


async def test_partitions_are_made_a_week_ahead_by_the_cells_clock(store):
    await move_clock(store, days=20)
    async with store.cells[0].statement() as tx:
        assert await partitions.days_ahead(tx) == 0
    assert await Partitioner(store).once() > 0
    for cell in store.cells:
        async with cell.statement() as tx:
            assert await partitions.days_ahead(tx) == partitions.DAYS_AHEAD
    assert await Partitioner(store).once() == 0
    names = await query(store.cells[0], "select relname from pg_class where relkind = 'r' and relname ~ '_default$'")
    assert names == []


async def test_a_write_for_a_shard_of_another_cell_finds_no_open_door(ctx, store):
    name = name_in(ctx, store.cells[0], "j")
    wrong = Store([store.cells[1]])
    wrong._cell_of = [store.cells[1]] * len(store._cell_of)
    with pytest.raises(ShardClosed):
        await a_type(Context.of(wrong, ctx.tenant, "test"), name)
    assert await query(store, "select * from job where name = $1", name) == []


async def test_a_cell_closes_its_connections_when_another_is_misconfigured(cells):
    broken = Cell("nowhere", f"{cells[1].dsn}_which_nobody_made")
    good = Cell(cells[0].name, cells[0].dsn)
    with pytest.raises(asyncpg.InvalidCatalogNameError):
        async with Store([good, broken]):
            pass
    assert not good.is_open


async def test_a_store_opens_with_the_cells_that_answer_and_refuses_where_none_does(cells):
    down = Cell("down", "postgresql://postgres@127.0.0.1:1/nothing")
    async with Store([down, Cell(cells[1].name, cells[1].dsn)]) as store:
        assert [cell.is_open for cell in store.cells] == [False, True]
        assert store.clock is store.cells[1].clock
        with pytest.raises(ConnectionError):
            down.clock.now()
    with pytest.raises(ConnectionRefusedError):
        async with Store([down]):
            pass
