"""Template databases, so that preparing data is not part of what is measured: `make bench-data`."""

import asyncio
import json
import os
import sys
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from benchmarks import psql
from benchmarks.server import Server, running
from horae.domain.placement import SHARDS
from horae.runtime.randomness import new_id
from horae.runtime.settings import CellSettings
from horae.store import migrations

SIZES = (10_000, 300_000, 3_000_000)
SPREAD_JOBS = 64
CONTENT = sha256(
    "".join([Path(__file__).read_text(), *(migration.checksum for migration in migrations.all_migrations())]).encode()
).hexdigest()
"""What a template holds follows from this module and the migrations: one that was made by others is made again."""
TENANT = "00000000-0000-7000-8000-000000000001"
TARGET_PORT = int(os.environ.get("HORAE_BENCH_TARGET_PORT", "5745"))
START = "date_trunc('day', now())"
EVERY_SHARD = "(n * 2654435761) % 4096"


def name_of(jobs: int) -> str:
    """The template with so many jobs."""
    return f"bench_{jobs}"


def period_of(jobs: int) -> int:
    """Seconds between two fires of a job: a minute, but never above the 8,000 fires/s a cell is built for."""
    return max(60, jobs // 8_000)


def make(server: Server, jobs: int) -> None:
    """A migrated cell with so many interval jobs, due evenly over their period; kept where it exists."""
    period = period_of(jobs)
    name = name_of(jobs)
    made = "select shobj_description(oid, 'pg_database') from pg_database where datname"
    if psql.value(server, "postgres", f"{made} = '{name}'") == CONTENT:
        return
    psql.run(server, "postgres", f"drop database if exists {name}", f"drop database if exists {name}_new")
    psql.run(server, "postgres", f"create database {name}_new")
    asyncio.run(migrations.migrate([CellSettings(name="bench", dsn=server.dsn(f"{name}_new"))], "test"))
    psql.run(server, f"{name}_new", tenant_row(TENANT), insert_jobs(jobs, period))
    psql.run(server, f"{name}_new", "vacuum (analyze)", "checkpoint")
    psql.run(
        server,
        "postgres",
        f"comment on database {name}_new is '{CONTENT}'",
        f"alter database {name}_new rename to {name}",
    )


def tenant_row(tenant: str) -> str:
    """A tenant as nodes know it: without one they do not know where its calls may go, and make none."""
    return f"""insert into reference (kind, id, tenant_id, home_shard, name, version, changed_at, body)
               values ('tenant', '{tenant}', '{tenant}', 0, 'tenant-{tenant}', 1, now(), '{{"allowance": {{}}}}')
               on conflict do nothing"""


def insert_jobs(jobs: int, period: int, shard: str = EVERY_SHARD) -> str:
    """Jobs with definition, version and cursor, each with its own place in the period; `shard`: of the n-th job."""
    first = f"{START} + n * interval '{period} s' / {jobs}"
    trigger = f"jsonb_build_object('kind', 'interval', 'every', {period}, 'anchor', {first})"
    target = f"jsonb_build_object('kind', 'http', 'url', 'http://127.0.0.1:{TARGET_PORT}/', 'signing', 'bench')"
    return f"""
        with made as (
            insert into job_cursor (shard_id, job_id, tenant_id, version, priority, next_fire_at)
            select {shard}, gen_random_uuid(), '{TENANT}', 1, 1, {first}
            from generate_series(1, {jobs}::bigint) n
            returning *),
        jobs as (
            insert into job (shard_id, id, tenant_id, name, status, created_at, changed_at, definition)
            select shard_id, job_id, tenant_id, job_id::text, 'ACTIVE', now(), now(), definition
            from (select *, jsonb_build_object('trigger', {trigger.replace(first, "next_fire_at")},
                                               'target', {target}) as definition from made) defined
            returning *)
        insert into job_version (shard_id, job_id, tenant_id, name, version, created_at, created_by, definition)
        select shard_id, id, tenant_id, name, 1, now(), 'bench', definition from jobs"""


def fresh(server: Server, jobs: int, name: str) -> str:
    """A copy of a template to work on."""
    make(server, jobs)
    psql.run(server, "postgres", f"drop database if exists {name} with (force)")
    psql.run(server, "postgres", f"create database {name} template {name_of(jobs)} strategy file_copy")
    return name


def make_jobs(server: Server, database: str, tenant: str, name: str, target: dict[str, str]) -> list[UUID]:
    """Jobs of a tenant without a schedule, evenly over the shards; their names begin with `name`."""
    step = SHARDS // SPREAD_JOBS
    ids = [new_id(place * step, datetime.now(UTC)) for place in range(SPREAD_JOBS)]
    definition = json.dumps({"trigger": {"kind": "manual"}, "target": target})
    rows = ", ".join(
        f"({place * step}, '{id_}', '{tenant}', '{name}-{id_}', '{definition}'::jsonb)" for place, id_ in enumerate(ids)
    )
    psql.run(
        server,
        database,
        tenant_row(tenant),
        f"""with made as (
                insert into job (shard_id, id, tenant_id, name, status, created_at, changed_at, definition)
                select s, i::uuid, t::uuid, n, 'ACTIVE', now(), now(), d from (values {rows}) v(s, i, t, n, d)
                returning *)
            insert into job_version (shard_id, job_id, tenant_id, name, version, created_at, created_by, definition)
            select shard_id, id, tenant_id, name, 1, now(), 'bench', definition from made""",
    )
    return ids


def main() -> None:
    """Make the templates of the given sizes, or all."""
    with running() as server:
        for size in map(int, sys.argv[1:] or SIZES):
            make(server, size)
            print(f"{name_of(size)} is there")


if __name__ == "__main__":
    main()
