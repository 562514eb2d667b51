"""Partitions and changes of tables (R-25): made a week ahead, missed in time, and nobody waits for a migration."""

import asyncio
import re
from datetime import date, timedelta

import asyncpg
import pytest
from structlog.testing import capture_logs

from horae.store import migrations
from horae.store.databases import partitions
from horae.upkeep.doctor import Doctor
from horae.upkeep.partitions import ALARM_DAYS_AHEAD, Partitioner
from tests.steps import query

PARENTS = ("instance_history", "outbox", "instance_result", "log_batch")
ROLES = ("horae_api", "horae_engine", "horae_relay", "horae_readonly")
KNOWN = migrations.all_migrations()
FIRST_UNDER_LOAD = 20
"""The migration from which a database is brought to this release while it is in use."""
LONG = (pytest.mark.long, pytest.mark.timeout(1800))


async def days_ahead(cell):
    async with cell.statement() as tx:
        return await partitions.days_ahead(tx)


def day(cell, ahead):
    return f"{cell.clock.now() + timedelta(days=ahead):%Y%m%d}"


async def alarms(store):
    with capture_logs() as logs:
        await Doctor(store).once()
    return {line["cell"] for line in logs if line["event"] == "cell.degraded" and "partitions" in line["what"]}


async def test_there_are_always_at_least_seven_days_beyond_today(store):
    assert partitions.DAYS_AHEAD - 1 >= 7
    await Partitioner(store).once()
    for cell in store.cells:
        assert await days_ahead(cell) == partitions.DAYS_AHEAD


@pytest.mark.parametrize("parent", PARENTS)
@pytest.mark.parametrize("how", ["drop table {part}", "alter table {parent} detach partition {part}"])
async def test_a_day_without_a_place_to_write_is_an_alarm_when_it_is_near(store, parent, how):
    """Of either table, and also where the day's table is there and belongs to nobody."""
    await Partitioner(store).once()
    cell = store.cells[0]
    await query(cell, how.format(parent=parent, part=f"{parent}_{day(cell, ALARM_DAYS_AHEAD)}"))
    assert await days_ahead(cell) == ALARM_DAYS_AHEAD
    assert await alarms(store) == set()
    await query(cell, how.format(parent=parent, part=f"{parent}_{day(cell, ALARM_DAYS_AHEAD - 1)}"))
    assert await days_ahead(cell) == ALARM_DAYS_AHEAD - 1
    assert await alarms(store) == {cell.name}
    with capture_logs() as logs:
        made = await Partitioner(store).once()
    short = [(line["cell"], line["days"]) for line in logs if line["event"] == "partitions.running_out"]
    assert short == [(cell.name, 2)]
    if how.startswith("drop"):
        assert (made, await days_ahead(cell)) == (2, partitions.DAYS_AHEAD)


async def test_there_is_no_default_partition_and_each_has_one_day(store):
    [parents] = await query(
        store.cells[0],
        "select array_agg(partrelid::regclass::text order by 1) as names, max(partdefid::int) as default_"
        " from pg_partitioned_table",
    )
    assert (tuple(parents["names"]), parents["default_"]) == (PARENTS, 0)
    bounds = await query(
        store.cells[0],
        "select relname, pg_get_expr(relpartbound, oid) as says from pg_class where relispartition and relkind = 'r'",
    )
    assert len(bounds) >= 2 * partitions.DAYS_AHEAD
    for bound in bounds:
        first, last = re.findall(r"'(\d{4}-\d\d-\d\d) 00:00:00\+00'", bound["says"])
        assert bound["relname"].endswith(first.replace("-", ""))
        assert date.fromisoformat(last) - date.fromisoformat(first) == timedelta(days=1)


async def test_no_role_that_serves_may_move_a_row_to_another_partition(store):
    """The key of a partition never changes: nobody but the owner may update any column of such a table."""
    columns = await query(
        store.cells[0],
        "select r.name || ' ' || a.attrelid::regclass || '.' || a.attname as it from unnest($1::text[]) r(name),"
        " pg_attribute a where a.attrelid = any($2::regclass[]) and a.attnum > 0"
        " and has_column_privilege(r.name, a.attrelid, a.attnum, 'update')",
        ROLES,
        PARENTS,
    )
    assert columns == []


async def test_every_migration_runs_with_a_short_lock_timeout(cells, monkeypatch):
    up = "create table seen as select current_setting('lock_timeout')::interval as limit_"
    every = [*KNOWN, migrations.Migration(9999, "9999_seen", up, "x")]
    monkeypatch.setattr(migrations, "all_migrations", lambda: every)
    await migrations.migrate(cells, "test")
    connection = await asyncpg.connect(cells[0].dsn)
    assert timedelta() < await connection.fetchval("select limit_ from seen") <= timedelta(seconds=1)
    await connection.close()


@pytest.mark.parametrize("migration", KNOWN, ids=lambda migration: migration.name)
def test_what_runs_outside_of_a_transaction_is_only_what_nobody_waits_for(migration):
    """Indexes are built beside writers; functions lock no table; a loop over tables gives up soon, and lets each go."""
    statements = [" ".join(re.sub(r"--[^\n]*", "", one).lower().split()) for one in migration.statements or ()]
    for code in statements:
        assert re.match(
            r"(create( unique)? index|drop index) concurrently |(create or replace|revoke execute on) function |do ",
            code,
        ), code
        if code.startswith("do "):
            [called] = re.findall(r"loop perform (\w+)\(\w+\); commit; end loop", code)
            function = rf"create or replace function {called}\([^$]* set lock_timeout = '200ms' as \$\$"
            assert any(re.match(function, other) for other in statements)


@pytest.mark.parametrize(
    ("read_s", "stall"), [(0, "10s"), pytest.param(600, "1s", marks=LONG)], ids=["a while", "ten minutes"]
)
async def test_a_database_is_migrated_under_load_beside_a_long_reader_and_nobody_stalls(
    cluster, monkeypatch, read_s, stall
):
    """A statement that waits longer than `stall` for a lock is refused, and fails the test."""
    admin = await asyncpg.connect(cluster.dsn("postgres"))
    await admin.execute("drop database if exists under_load with (force)")
    await admin.execute("create database under_load")
    dsn = cluster.dsn("under_load")
    monkeypatch.setattr(migrations, "LOCK_RETRY_PAUSE_S", 0.05)
    monkeypatch.setattr(migrations, "TRIES", 1_000_000)
    monkeypatch.setattr(migrations, "all_migrations", lambda: KNOWN[:FIRST_UNDER_LOAD])
    migrator = await asyncpg.connect(dsn)
    await migrations.apply(migrator, "cell-0", "test")
    monkeypatch.setattr(migrations, "all_migrations", lambda: KNOWN)
    tables = [row[0] for row in await migrator.fetch("select tablename from pg_tables where schemaname = 'public'")]
    reader, writer = await asyncpg.connect(dsn), await asyncpg.connect(dsn, server_settings={"lock_timeout": stall})
    reading = reader.transaction()
    await reading.start()
    for table in tables:
        await reader.fetch(f"select from {table} limit 1")
    tries = counted_tries(monkeypatch)
    loop = asyncio.get_running_loop()
    until = loop.time() + read_s
    migrating = asyncio.create_task(migrations.apply(migrator, "cell-0", "test"))
    rounds = 0
    while len(tries) < 5 or loop.time() < until:
        await write_everywhere(writer, tables)
        rounds += 1
    assert not migrating.done()
    await reading.rollback()
    while not migrating.done():
        await write_everywhere(writer, tables)
    assert await migrating == [migration.name for migration in KNOWN[FIRST_UNDER_LOAD:]]
    assert rounds > 5
    for connection in (reader, writer, migrator, admin):
        await connection.close()
    await cluster.drop(["under_load"])


def counted_tries(monkeypatch):
    """One entry for each time a migration gave way."""
    tries, pause = [], asyncio.sleep

    async def count(seconds):
        tries.append(seconds)
        await pause(seconds)

    monkeypatch.setattr(migrations.asyncio, "sleep", count)
    return tries


async def write_everywhere(writer, tables):
    """A write takes its lock of each table, whatever it finds there."""
    for table in tables:
        await writer.execute(f"delete from {table} where false")
