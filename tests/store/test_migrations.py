import asyncio

import asyncpg
import pytest

from horae.domain.errors import Conflict
from horae.domain.placement import SHARDS
from horae.store import migrations
from tests.steps import query


async def test_migrating_twice_changes_nothing(cells):
    assert await migrations.migrate(cells, "test") == []


async def test_every_shard_is_open_in_exactly_one_cell(store):
    rows = await query(store, "select shard_id, state from shard")
    assert len(rows) == 2 * SHARDS
    assert sorted(row["shard_id"] for row in rows if row["state"] == "ACTIVE") == list(range(SHARDS))
    assert [len(store.shards_of(cell)) for cell in store.cells] == [SHARDS // 2, SHARDS // 2]


async def test_a_migration_that_changed_after_it_was_applied_is_refused(cells, monkeypatch):
    first, *rest = migrations.known()
    monkeypatch.setattr(migrations, "known", lambda: [first._replace(checksum="other"), *rest])
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
    every = sorted(f"{name}: {migration.name}" for name in names for migration in migrations.known())
    assert sorted(line for lines in applied for line in lines) == every, "each file once in each cell"


async def test_a_migration_behind_a_long_reader_gives_way_and_comes_again(cells, monkeypatch):
    """Its lock_timeout lets the traffic queue for a second at most; then it tries anew."""
    extra = migrations.Migration(9999, "9999_wide", "alter table job add column wide text", "x")
    every = [*migrations.known(), extra]
    monkeypatch.setattr(migrations, "known", lambda: every)
    monkeypatch.setattr(migrations, "PAUSE", 0.05)
    reader = await asyncpg.connect(cells[0].dsn)
    writer = await asyncpg.connect(cells[0].dsn)
    transaction = reader.transaction()
    await transaction.start()
    await reader.fetch("select * from job")
    migrating = asyncio.create_task(migrations.migrate(cells, "test"))
    waits = []
    for _ in range(30):
        began = asyncio.get_running_loop().time()
        await writer.fetch("select count(*) from job")
        waits.append(asyncio.get_running_loop().time() - began)
        if max(waits) > 0.3:
            break
        await asyncio.sleep(0.05)
    assert 0.3 < max(waits) < 1.5, "a writer waits for the migration, and no longer than its lock_timeout"
    await transaction.rollback()
    assert await migrating == ["cell-0: 9999_wide", "cell-1: 9999_wide"]
    await reader.close()
    await writer.close()
