"""Scripts for pgbench: the lifecycle as we write it, and the same lifecycle in one updated table."""

from pathlib import Path

from benchmarks import psql
from benchmarks.bare.pgbench import as_script
from benchmarks.server import FOLDER, Server
from horae.store.statements import sql

# A batch: what is due, and everything the statements want to know about it, as arrays.
PICK = """
\\set batch :batch + 1
select array_agg(shard_id) as shards, array_agg(job_id) as jobs, array_agg(version) as versions,
       array_agg(next_fire_at) as fires, array_agg(next_fire_at + interval '{period} s') as nexts,
       array_agg(lpad(to_hex((:run::bigint * 16 + :client_id) * 2147483648 + :batch * 128 + rn), 32, '0')::uuid) as ids,
       array_agg(translate(job_id::text, '-', '') || ':' || extract(epoch from next_fire_at)::bigint) as keys,
       array_fill('00000000-0000-4000-8000-000000000001'::uuid, array[{batch}]) as tokens,
       array_fill(13000, array[{batch}]) as slots, array_fill(null::text, array[{batch}]) as nothing,
       array_fill(null::timestamptz, array[{batch}]) as never, array_fill(1, array[{batch}]) as ones,
       array_fill(0, array[{batch}]) as zeros, array_fill(3, array[{batch}]) as took,
       array_fill(2, array[{batch}]) as late,
       array_fill('SUCCESS'::text, array[{batch}]) as success,
       array_fill('{{"attempt": 1, "status": 200, "duration_ms": 3}}'::jsonb, array[{batch}]) as kept,
       min(next_fire_at) as low, max(next_fire_at) as now,
       '00000000-0000-4000-8000-000000000002'::uuid as owner
from (select *, row_number() over () as rn from (
          select shard_id, job_id, version, next_fire_at from job_cursor
          where priority = 1 and next_fire_at >= :low and next_fire_at <= '2100-01-01'
            and shard_id::int between :client_id * {share} and :client_id * {share} + {share} - 1
          order by next_fire_at limit {batch}) due) batch \\gset
"""
FIRE = [
    "shards",
    "jobs",
    "versions",
    "fires",
    "nexts",
    "ids",
    "keys",
    "fires",
    "tokens",
    "slots",
    "nothing",
    "owner",
    "now",
]
END = [
    "shards",
    "ids",
    "ones",
    "tokens",
    "never",
    "success",
    "nothing",
    "nothing",
    "nothing",
    "nothing",
    "zeros",
    "took",
    "late",
    "kept",
    "now",
]

SINGLE_TABLE = """
create table instance_single (like instance_live including defaults including constraints);
alter table instance_single drop constraint instance_live_state, drop constraint instance_live_running,
    drop constraint instance_live_owner, drop constraint instance_live_attempted;
alter table instance_single add column ended_at timestamptz, add column duration_ms int, add primary key (shard_id, id);
create unique index on instance_single (shard_id, idem_key);
create index on instance_single (priority, lane, due_at, (shard_id::int)) where state in ('INIT', 'FAIL');
create index on instance_single (deadline) where state = 'RUNNING';
create index on instance_single (job_id, fire_time);
"""
SINGLE_CLAIM = """
with picked as materialized (
    select shard_id, id from instance_single
    where state in ('INIT', 'FAIL') and priority = 1 and lane = 0 and due_at >= :low and due_at <= :now
      and shard_id::int between :client_id * {share} and :client_id * {share} + {share} - 1
    order by due_at limit {batch} for update skip locked)
update instance_single l
set state = 'RUNNING', attempt = l.attempt + 1, token = :owner, owner = :owner, changed_at = :now, deadline = :now
from picked where (l.shard_id, l.id) = (picked.shard_id, picked.id);
"""
SINGLE_END = """
with ended as (
    update instance_single l
    set state = 'SUCCESS', ended_at = :now, duration_ms = 3, token = null, owner = null, deadline = null
    from unnest(:shards::smallint[], :ids::uuid[]) g(shard_id, id)
    where (l.shard_id, l.id) = (g.shard_id, g.id) and l.state not in ('INIT', 'FAIL', 'BLOCKED')
    returning l.shard_id, l.id, l.tenant_id, l.job_id)
insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
select :now, shard_id, tenant_id, job_id, id, 'INSTANCE_DONE', '{{}}' from ended;
"""


def scripts(server: Server, single: str, workers: int, batch: int, period: int) -> tuple[Path, Path]:
    """The script of our lifecycle, and of the single table (whose table is made in the database `single`)."""
    psql.run(server, single, SINGLE_TABLE)
    pick = " ".join(PICK.format(batch=batch, share=4096 // workers, period=period).strip().splitlines()[1:])
    head = "\\set batch :batch + 1\n" + pick + "\n"
    fire = as_script(sql("cursors/fire"), FIRE)
    born_waiting = fire.replace("instance_live", "instance_single").replace(
        ":tokens::uuid[]", "array_fill(null::uuid, array[100])"
    )
    lifecycle = head + fire + ";\n" + as_script(sql("instances/end"), END) + ";\n"
    updated = (
        head
        + born_waiting
        + ";\n"
        + _one_line(SINGLE_CLAIM, batch, 4096 // workers)
        + "\n"
        + _one_line(SINGLE_END, batch, 0)
        + "\n"
    )
    return _write("lifecycle.sql", lifecycle), _write("single.sql", updated)


def _one_line(text: str, batch: int, share: int) -> str:
    return " ".join(text.format(batch=batch, share=share).split())


def _write(name: str, text: str) -> Path:
    path = FOLDER / name
    path.write_text(text)
    return path
