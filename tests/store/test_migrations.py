import asyncio

import asyncpg
import pytest

from horae.domain.errors import Conflict, Unfit
from horae.domain.placement import SHARDS
from horae.store import migrations
from horae.store.databases import day_indexes
from horae.store.store import Store
from tests.steps import query


async def test_migrating_twice_changes_nothing(cells):
    assert await migrations.migrate(cells, "test") == []


async def test_every_shard_is_open_in_exactly_one_cell(store):
    rows = await query(store, "select shard_id, state from shard")
    assert len(rows) == 2 * SHARDS
    assert sorted(row["shard_id"] for row in rows if row["state"] == "ACTIVE") == list(range(SHARDS))
    assert [len(store.shards_of(cell)) for cell in store.cells] == [SHARDS // 2, SHARDS // 2]


async def test_a_first_migration_that_was_broken_off_between_two_cells_is_finished_by_the_next(cells):
    async with Store.of(cells) as store:
        await query(store.cells[1], "update shard set state = 'ELSEWHERE'")
    await migrations.migrate(cells, "test")
    async with Store.of(cells) as store:
        assert [len(store.shards_of(cell)) for cell in store.cells] == [2048, 2048]


async def test_a_cell_that_comes_later_is_given_no_shard(cells):
    async with Store.of(cells) as store:
        await query(store.cells[1], "update shard set state = 'ELSEWHERE'")
        await query(store.cells[0], "update shard set state = 'ACTIVE'")
    await migrations.migrate(cells, "test")
    async with Store.of(cells) as store:
        assert [len(store.shards_of(cell)) for cell in store.cells] == [4096, 0]


async def test_a_migration_that_changed_after_it_was_applied_is_refused(cells, monkeypatch):
    first, *rest = migrations.all_migrations()
    monkeypatch.setattr(migrations, "all_migrations", lambda: [first._replace(checksum="other"), *rest])
    with pytest.raises(Conflict, match="0001_cell"):
        await migrations.migrate(cells, "test")


async def test_several_processes_may_migrate_at_once(cluster):
    names = [f"fresh_{n}" for n in range(2)]
    connection = await asyncpg.connect(cluster.dsn("postgres"))
    for name in names:
        await connection.execute(f"create database {name}")
    await connection.close()
    fresh = [type("C", (), {"name": name, "dsn": cluster.dsn(name)})() for name in names]
    applied = await asyncio.gather(*(migrations.migrate(fresh, "test") for _ in range(4)))
    await cluster.drop(names)
    every = sorted(f"{name}: {migration.name}" for name in names for migration in migrations.all_migrations())
    assert sorted(line for lines in applied for line in lines) == every, "each file once in each cell"


async def test_a_migration_behind_a_long_reader_gives_way_and_comes_again(cells, monkeypatch):
    """Its lock_timeout lets the traffic queue for a moment; then it tries anew, as often as it takes."""
    extra = migrations.Migration(9999, "9999_wide", "alter table job add column wide text", "x")
    every = [*migrations.all_migrations(), extra]
    monkeypatch.setattr(migrations, "all_migrations", lambda: every)
    monkeypatch.setattr(migrations, "LOCK_RETRY_PAUSE_S", 0.05)
    reader = await asyncpg.connect(cells[0].dsn)
    writer = await asyncpg.connect(cells[0].dsn)
    transaction = reader.transaction()
    await transaction.start()
    await reader.fetch("select * from job")
    tries = 0
    pause = asyncio.sleep

    async def count(seconds):
        nonlocal tries
        tries += 1
        await pause(seconds)

    monkeypatch.setattr(migrations.asyncio, "sleep", count)
    await writer.execute("set lock_timeout = '2s'")
    migrating = asyncio.create_task(migrations.migrate(cells, "test"))
    while tries < 5:
        await writer.fetch("select count(*) from job")  # raises where the queue stands still
        await pause(0.01)
    monkeypatch.undo()
    monkeypatch.setattr(migrations, "all_migrations", lambda: every)
    await transaction.rollback()
    assert await migrating == ["cell-0: 9999_wide", "cell-1: 9999_wide"]
    await reader.close()
    await writer.close()


async def test_the_policies_of_a_table_that_is_read_for_long_are_made_by_a_later_try(cells, monkeypatch):
    """A file without a transaction gives way, too: nobody waits behind it for longer than its lock_timeout."""
    every = migrations.all_migrations()
    policies = next(one for one in every if one.name == "0040_role_policies")
    reader = await asyncpg.connect(cells[0].dsn)
    await reader.execute("delete from schema_migration where number = 40; drop policy horae_engine on job")
    transaction = reader.transaction()
    await transaction.start()
    await reader.fetch("select * from job")
    tried, pause = asyncio.Event(), asyncio.sleep

    async def wait_for_next_try(_seconds):
        tried.set()
        await pause(0.01)

    monkeypatch.setattr(migrations.asyncio, "sleep", wait_for_next_try)
    migrating = asyncio.create_task(migrations.migrate(cells, "test"))
    await asyncio.wait({asyncio.create_task(tried.wait()), migrating}, return_when=asyncio.FIRST_COMPLETED)
    assert not migrating.done()
    await transaction.rollback()
    assert await migrating == [f"cell-0: {policies.name}"]
    assert await reader.fetch("select from pg_policy where polname = 'horae_engine' and polrelid = 'job'::regclass")
    await reader.close()


async def test_an_index_is_built_beside_a_writer_that_does_not_end(cells, monkeypatch):
    """What a first try left, cut off in the middle, is taken away by the second."""
    up = """
-- without transaction
drop index concurrently if exists job_wide;
create index concurrently job_wide on job (created_at);
"""
    every = [*migrations.all_migrations(), migrations.Migration(9999, "9999_wide", up, "x")]
    monkeypatch.setattr(migrations, "all_migrations", lambda: every)
    writer = await asyncpg.connect(cells[0].dsn)
    transaction = writer.transaction()
    await transaction.start()
    await writer.execute("update job set changed_at = changed_at")
    cut_off = await asyncpg.connect(cells[0].dsn)
    await cut_off.execute("set lock_timeout = '50ms'")
    with pytest.raises(asyncpg.LockNotAvailableError):
        await cut_off.execute("create index concurrently job_wide on job (created_at)")
    migrating = asyncio.create_task(migrations.migrate(cells, "test"))
    waits = "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%index concurrently%job_wide%'"
    while not await cut_off.fetch(waits):
        await asyncio.sleep(0.01)
    await writer.execute("update job set changed_at = changed_at")
    other = await asyncpg.connect(cells[0].dsn, server_settings={"lock_timeout": "1s"})
    await other.execute("insert into job_cursor select * from job_cursor limit 0")
    await other.execute("update job set changed_at = changed_at where false")
    await transaction.commit()
    assert await migrating == ["cell-0: 9999_wide", "cell-1: 9999_wide"]
    [row] = await other.fetch("select indisvalid from pg_index where indexrelid = 'job_wide'::regclass")
    assert row["indisvalid"]
    for connection in (writer, cut_off, other):
        await connection.close()


async def test_days_that_were_there_before_an_index_get_it_and_new_ones_have_it(cells):
    """An index over history cannot be built concurrently as a whole; what a first try has left is replaced."""
    connection = await asyncpg.connect(cells[0].dsn)
    await connection.execute("drop index instance_history_tenant")
    await connection.execute("create index instance_history_tenant on only instance_history (tenant_id, fire_time)")
    day = await connection.fetchval(
        "select max(inhrelid::regclass::text) from pg_inherits where inhparent = 'instance_history'::regclass"
    )
    await connection.execute(f"create index {day}_tenant on {day} (fire_time)")
    await migrations.migrate(cells, "test")
    valid = "select indisvalid from pg_index where indexrelid = 'instance_history_tenant'::regclass"
    assert await connection.fetchval(valid)
    assert await connection.fetchval("select ensure_partitions('2100-01-01', 1)") == 4
    assert await day_indexes.missing(connection) == []
    await connection.close()


SCHEMA = """
    select 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' '
           || a.attnotnull || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '') as line
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    left join pg_attrdef d on (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v') and a.attnum > 0 and not attisdropped
    union all select 'index ' || indexdef from pg_indexes where schemaname = 'public'
    union all select 'index valid ' || indexrelid::regclass || ' ' || indisvalid from pg_index
              where indexrelid::regclass::text not like 'pg_%'
    union all select 'policy ' || p::text from pg_policies p
    union all select 'function ' || pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
    union all select 'trigger ' || pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union all select 'constraint ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
              where connamespace = 'public'::regnamespace
    union all select 'rights ' || relname || ' ' || coalesce(relacl::text, '') from pg_class
              where relnamespace = 'public'::regnamespace"""


async def test_an_empty_database_gets_in_one_transaction_what_files_give_one_by_one(cluster, monkeypatch):
    names = [await cluster.make_empty() for _ in range(2)]
    every = migrations.all_migrations()
    found = []
    for name, first in zip(names, (every, every[:1]), strict=True):
        connection = await asyncpg.connect(cluster.dsn(name))
        monkeypatch.setattr(migrations, "all_migrations", lambda first=first: first)
        if first is not every:  # a cell of the first release, without any days yet
            monkeypatch.setattr(migrations, "_stock", lambda _connection: asyncio.sleep(0))
            monkeypatch.setattr(migrations.day_indexes, "missing", nothing_missing)
        await migrations.apply(connection, "cell-0", "test")
        monkeypatch.undo()
        await migrations.apply(connection, "cell-0", "test")
        found.append(sorted(row["line"] for row in await connection.fetch(SCHEMA)))
        await connection.close()
    await cluster.drop(names)
    assert len(found[0]) > 1000
    assert found[0] == found[1]


async def nothing_missing(_connection):
    return []


async def test_a_first_migration_that_fails_leaves_the_database_empty(cluster, monkeypatch):
    name = await cluster.make_empty()
    wrong = migrations.Migration(9999, "9999_wrong", "select from nowhere", "x")
    every = [*migrations.all_migrations(), wrong]
    monkeypatch.setattr(migrations, "all_migrations", lambda: every)
    connection = await asyncpg.connect(cluster.dsn(name))
    with pytest.raises(Unfit) as refused:
        await migrations.apply(connection, "cell-0", "test")
    said = 'cell-0: 9999_wrong could not be applied (relation "nowhere" does not exist); nothing was changed'
    assert str(refused.value) == said
    assert await connection.fetch("select from pg_class where relnamespace = 'public'::regnamespace") == []
    await connection.close()
    await cluster.drop([name])


async def test_an_upgrade_that_fails_keeps_whole_files_and_says_which(cells, monkeypatch):
    good = migrations.Migration(9998, "9998_good", "create table good ()", "x")
    wrong = migrations.Migration(9999, "9999_wrong", "create table half (); select from nowhere", "x")
    every = [*migrations.all_migrations(), good, wrong]
    monkeypatch.setattr(migrations, "all_migrations", lambda: every)
    with pytest.raises(
        Unfit, match=r"cell-0: 9999_wrong could not be applied \(.*\); 9998_good applied before it; mend"
    ):
        await migrations.migrate(cells, "test")
    connection = await asyncpg.connect(cells[0].dsn)
    assert await connection.fetchval("select to_regclass('good')") == "good"
    assert await connection.fetchval("select to_regclass('half')") is None
    await connection.close()


async def test_no_cell_is_changed_where_one_of_them_is_refused(cells, monkeypatch):
    extra = migrations.Migration(9999, "9999_wide", "alter table job add column wide text", "x")
    every = [*migrations.all_migrations(), extra]
    monkeypatch.setattr(migrations, "all_migrations", lambda: every)
    second = await asyncpg.connect(cells[1].dsn)
    await second.execute("update cell set environment = 'production'")
    await second.close()
    with pytest.raises(Unfit, match="cell-1: this database belongs to the environment 'production'"):
        await migrations.migrate(cells, "test")
    first = await asyncpg.connect(cells[0].dsn)
    assert await first.fetch("select from schema_migration where number = 9999") == []
    await first.close()


async def test_a_plan_says_what_would_run_and_how_and_changes_nothing(cluster, cells, monkeypatch):
    wide = migrations.Migration(9998, "9998_wide", "alter table job add column wide text", "x")
    beside = migrations.Migration(9999, "9999_beside", "-- without transaction\ndrop index concurrently x;\n", "x")
    known = migrations.all_migrations()
    monkeypatch.setattr(migrations, "all_migrations", lambda: [*known, wide, beside])
    name = await cluster.make_empty()
    empty = cells[0].model_copy(update={"name": "new", "dsn": cluster.dsn(name)})
    for _ in range(2):
        first, second = await migrations.plan([cells[0], empty], "test")
        assert (first.is_empty, list(first.pending), list(first.newer)) == (False, [wide, beside], [])
        assert (second.is_empty, len(second.pending)) == (True, len(known) + 2)
    monkeypatch.setattr(migrations, "all_migrations", lambda: known[:-1])
    [behind] = await migrations.plan(cells[:1], "test")
    assert (list(behind.pending), list(behind.newer)) == ([], [known[-1].name])
    await cluster.drop([name])
