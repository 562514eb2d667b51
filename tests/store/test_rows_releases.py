"""Nodes of the release before this one run on, while and after cells are migrated (R-14): migrations only add."""

import asyncpg
import pytest

from horae.domain.jobs.jobs import Definition
from horae.domain.placement import Layout, home_of
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.domain.tenants.tenants import Tenant
from horae.runtime.randomness import new_id
from horae.runtime.settings import CellSettings
from horae.service.context import Context
from horae.service.tenants import tenants
from horae.store import migrations
from horae.store.store import Store
from horae.store.tenants.tenants import publish
from tests.bulk import bulk_jobs
from tests.catcher import catching
from tests.engine.running import running
from tests.steps import query, until

COLUMNS = """
    select table_name || '.' || column_name as name, data_type, is_nullable = 'NO' as required,
           column_default is not null or is_generated <> 'NEVER' as filled
    from information_schema.columns where table_schema = 'public'
      and table_name in (select table_name from information_schema.tables
                         where table_schema = 'public' and table_type = 'BASE TABLE')"""
CONSTRAINTS = """
    select r.relname || '.' || c.conname as name, pg_get_constraintdef(c.oid) as says,
           array(select r.relname || '.' || a.attname from pg_attribute a
                 where a.attrelid = c.conrelid and a.attnum = any(c.conkey)) as columns
    from pg_constraint c join pg_class r on r.oid = c.conrelid
    where c.connamespace = 'public'::regnamespace and c.contype in ('c', 'u', 'p') and not r.relispartition"""
OLD_TENANT = "insert into tenant (shard_id, id, name, width, zone, created_at) values ($1, $2, $3, $4, $5, $6)"
KNOWN = migrations.all_migrations()
WHOLE = 4
"""The first migration with which a cell is a cell."""


async def database(cluster, name):
    connection = await asyncpg.connect(cluster.dsn("postgres"))
    await connection.execute(f'create database "{name}"')
    await connection.close()
    return cluster.dsn(name)


async def migrated(dsn, upto, monkeypatch):
    """Bring a database to one migration, as the release that ended there did."""
    monkeypatch.setattr(migrations, "all_migrations", lambda: KNOWN[:upto])
    connection = await asyncpg.connect(dsn)
    try:
        await migrations.apply(connection, "cell-0", "test")
    finally:
        await connection.close()


async def rows_of(dsn, text):
    connection = await asyncpg.connect(dsn)
    try:
        return {row["name"]: row for row in await connection.fetch(text)}
    finally:
        await connection.close()


async def test_no_migration_takes_from_the_release_before_what_it_reads_or_writes(cluster, monkeypatch):
    dsn = await database(cluster, "releases")
    columns, constraints = {}, {}
    for number in range(WHOLE, len(KNOWN) + 1):
        await migrated(dsn, number, monkeypatch)
        after, checks = await rows_of(dsn, COLUMNS), await rows_of(dsn, CONSTRAINTS)
        tables = {name.partition(".")[0] for name in columns}
        for name, column in columns.items():
            assert name in after, f"{KNOWN[number - 1].name} drops {name}, which nodes still use"
            assert after[name]["data_type"] == column["data_type"]
            assert not after[name]["required"] or column["required"] or after[name]["filled"]
        for name, column in after.items():
            if name not in columns and name.partition(".")[0] in tables and column["required"]:
                assert column["filled"], f"{name}: nodes that do not know it must be able to insert"
        for name, check in checks.items():
            if name not in constraints and name.partition(".")[0] in tables:
                assert set(check["columns"]).isdisjoint(columns), f"{name} asks old writers for more"
        columns, constraints = after, checks
    await cluster.drop(["releases"])


@pytest.mark.timeout(110)
async def test_rows_of_the_release_before_fire_after_the_migration_and_so_do_those_its_nodes_still_write(
    cluster, monkeypatch
):
    dsn = await database(cluster, "before")
    await migrated(dsn, len(KNOWN) - 1, monkeypatch)
    monkeypatch.setattr(migrations, "all_migrations", lambda: KNOWN)
    cells = [CellSettings(name="cell-0", dsn=dsn)]
    connection = await asyncpg.connect(dsn)
    await migrations._deal_shards([connection])
    async with Store.of(cells) as store, catching(store.cells[0].clock.now) as catcher:
        tenant = Tenant(new_id(home_of("acme"), store.cells[0].clock.now()), "acme", 16, layout=Layout.NEIGHBOURS)
        facts = (home_of("acme"), tenant.id, tenant.name, tenant.width, tenant.zone, store.cells[0].clock.now())
        await query(store, OLD_TENANT, *facts)
        await store.run(home_of("acme"), lambda tx: publish(tx, tenant.id))
        ctx = Context.of(store, tenant, "test")
        start = store.cells[0].clock.now().replace(microsecond=0)
        made = Definition(trigger=IntervalTrigger(1, start), target=HttpTarget(catcher.url))
        await bulk_jobs(ctx, store, 10, made, start, "old")
        assert await migrations.apply(connection, "cell-0", "test") == [KNOWN[-1].name]
        await bulk_jobs(ctx, store, 10, made, start, "still-old")
        assert await tenants.find(store, "acme") == tenant, "it keeps the shards that it had"
        async with running(store):
            await until(lambda: len({arrival.job for arrival in catcher.arrivals}) == 20, 30)
        rows = await query(store, "select job_id, fire_time, count(*) as many from instance_history group by 1, 2")
        assert {row["many"] for row in rows} == {1}
    await connection.close()
    await cluster.drop(["before"])
