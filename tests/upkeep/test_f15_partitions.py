"""F15: partitions are made beside long readers and a dump, and nobody who ends an instance waits for that."""

import asyncio
import signal
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
import pytest

from horae.domain.instances.outcomes import Success
from horae.service.tasks import tasks
from horae.store.databases import partitions
from horae.upkeep.partitions import Partitioner
from tests.cluster import BIN
from tests.steps import a_type, claim, query, settle, until

PAST = """
    insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, shard_id, priority,
                                  lane, id, tenant_id, job_id, state, idem_key, payload)
    select $1, $1, $1, 1, 1, 0, $2, 1, 0, gen_random_uuid(), $3, gen_random_uuid(), 'SUCCESS', 'k' || n,
           to_jsonb(repeat(md5(n::text), 60))
    from generate_series(1, 5000) n"""
LOCKED = """
    select from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where a.application_name = 'pg_dump' and l.relation = 'instance_history'::regclass and l.granted"""
WAITS = "select from pg_locks where relation = 'instance_history'::regclass and not granted"


@pytest.fixture
async def running(ctx, store):
    """Attempts of the first cell that can be ended."""
    await a_type(ctx)
    for n in range(40):
        await tasks.schedule(ctx, "ARTICLE_PUBLISH", str(n))
    claimed = await claim(store.cells[0], store)
    assert len(claimed) > 5
    return claimed


@asynccontextmanager
async def a_long_reader(store, _tenant):
    connection = await asyncpg.connect(store.cells[0].dsn)
    async with connection.transaction():
        await connection.fetch("select from instance_history, outbox limit 1")
        yield
    await connection.close()


@asynccontextmanager
async def a_dump(store, tenant):
    """A real pg_dump whose output nobody reads: it holds its locks until it is ended."""
    cell = store.cells[0]
    await query(cell, PAST, cell.clock.now(), store.shards_of(cell)[0], tenant.id)
    dump = await asyncio.create_subprocess_exec(BIN / "pg_dump", cell.dsn, stdout=asyncio.subprocess.PIPE)

    async def has_locked():
        return bool(await query(cell, LOCKED))

    try:
        await until(has_locked)
        yield
        assert dump.returncode is None
    finally:
        dump.send_signal(signal.SIGTERM)
        await dump.communicate()


@pytest.mark.parametrize("beside", [a_long_reader, a_dump])
async def test_f15_partitions_are_made_beside_those_who_read_for_long_and_settles_go_on(ctx, store, running, beside):
    cell = store.cells[0]
    far = (cell.clock.now() + timedelta(days=60)).date()

    async def make():
        async with cell.statement() as tx:
            return await partitions.ensure(tx, far, 2)

    async with beside(store, ctx.tenant):
        making = asyncio.create_task(make())
        for ran in running:
            assert await settle(store, ran, Success()) == (1, 0)
        [made] = await asyncio.gather(making, return_exceptions=True)
        assert made == 8, "two days of four tables"
    [day] = await query(cell, "select relispartition from pg_class where relname = $1", f"outbox_{far:%Y%m%d}")
    assert day["relispartition"]


async def test_f15_what_is_made_is_as_what_was_made_before(store):
    """The same columns, defaults, constraints and indexes as the partitions that the first migrations made."""
    cell = store.cells[0]
    far = (cell.clock.now() + timedelta(days=60)).date()
    async with cell.statement() as tx:
        await partitions.ensure(tx, far, 1)
    facts = """
        select c.relrowsecurity, c.relforcerowsecurity, (select count(*) from pg_policy p where p.polrelid = c.oid),
               (select array_agg(a.attname || ' ' || a.atttypid || ' ' || a.attcollation order by a.attnum)
                from pg_attribute a where a.attrelid = c.oid and a.attnum > 0),
               (select array_agg(pg_get_constraintdef(o.oid) order by o.conname) from pg_constraint o
                where o.conrelid = c.oid),
               (select count(*) from pg_inherits h join pg_index i on i.indexrelid = h.inhrelid
                where i.indrelid = c.oid)
        from pg_class c where c.relname = $1"""
    for parent in ("instance_history", "outbox"):
        [of_parent] = await query(cell, "select count(*) as many from pg_index where indrelid = $1::regclass", parent)
        [today] = await query(cell, facts, f"{parent}_{cell.clock.now():%Y%m%d}")
        [later] = await query(cell, facts, f"{parent}_{far:%Y%m%d}")
        assert tuple(today) == tuple(later)
        assert later[5] == of_parent["many"] > 0, "each index is a part of its parent's"


@pytest.mark.parametrize("pooled", [False, True], ids=["direct", "by a pooler"])
async def test_f15_a_partitioner_that_would_have_to_wait_gives_way_and_tries_again(store, running, monkeypatch, pooled):
    cell = store.cells[0]
    cell.pooled = pooled
    tomorrow = f"{cell.clock.now() + timedelta(days=7):%Y%m%d}"
    for parent in ("outbox", "instance_history"):
        await query(cell, f"drop table {parent}_{tomorrow}")
    tries = 0
    ensure = partitions.ensure

    async def count(*args):
        nonlocal tries
        tries += 1
        return await ensure(*args)

    monkeypatch.setattr(partitions, "ensure", count)
    monkeypatch.setattr(partitions, "RETRY_PAUSE_S", 0.01)
    other = await asyncpg.connect(cell.dsn)
    transaction = other.transaction()
    await transaction.start()
    await other.execute("lock table instance_history in share update exclusive mode")
    making = asyncio.create_task(Partitioner(store).once())
    for ran in running:
        assert await settle(store, ran, Success()) == (1, 0)
    await until(lambda: tries >= 3 or making.done())
    await transaction.rollback()
    await other.close()
    assert await making == 2
    assert await query(cell, WAITS) == []
