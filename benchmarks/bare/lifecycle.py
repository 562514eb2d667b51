"""Scripts for pgbench: the lifecycle as we write it, and what it is compared with.

The statements are ours, read from `store/sql`. Around them stands one query that picks a batch of due cursors and
makes arrays of it; what is the same for every row is written into the statement.
"""

from pathlib import Path

from benchmarks import psql
from benchmarks.bare.pgbench import TOKEN, as_script, plain_end
from benchmarks.server import FOLDER, Server
from horae.store.statements import sql

PICK = """
select array_agg(shard_id) as shards, array_agg(job_id) as jobs, array_agg(next_fire_at) as fires,
       array_agg(next_fire_at + interval '{period} s') as nexts,
       array_agg(lpad(to_hex((:run::bigint * 16 + :client_id) * 2147483648 + :batch * 128 + rn), 32, '0')::uuid) as ids,
       array_agg(translate(job_id::text, '-', '') || ':' || extract(epoch from next_fire_at)::bigint) as keys,
       min(next_fire_at) as low, max(next_fire_at) as now
from (select *, row_number() over () as rn from (
          select shard_id, job_id, version, next_fire_at from job_cursor
          where priority = 1 and next_fire_at >= :low and next_fire_at <= '2100-01-01'
            and shard_id::int between :client_id * {share} and :client_id * {share} + {share} - 1
          order by next_fire_at limit {batch}) due) batch \\gset
"""
SINGLE_TABLE = """
create table instance_single (like instance_live including defaults including constraints);
alter table instance_single drop constraint instance_live_state, drop constraint instance_live_running,
    drop constraint instance_live_owner, drop constraint instance_live_attempted;
alter table instance_single add column ended_at timestamptz, add column duration_ms int, add primary key (shard_id, id);
create unique index on instance_single (idem_key, (shard_id::int));
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
set state = 'RUNNING', attempt = l.attempt + 1, token = {token}, owner = {token}, changed_at = :now, deadline = :now
from picked where l.shard_id = any(array[picked.shard_id]) and l.id between picked.id and picked.id;
"""
SINGLE_END = """
with ended as (
    update instance_single l
    set state = 'SUCCESS', ended_at = :now, duration_ms = 3, token = null, owner = null, deadline = null
    from unnest(:shards::smallint[], :ids::uuid[]) g(shard_id, id)
    where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id
      and l.state not in ('INIT', 'FAIL', 'BLOCKED')
    returning l.shard_id, l.id, l.tenant_id, l.job_id)
insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
select :now, shard_id, tenant_id, job_id, id, 'INSTANCE_DONE', '{{}}' from ended;
"""
# No row in flight at all: the cursor moves and the history row is there. A limit to learn from.
APPEND = """
with moved as (
    update job_cursor c set next_fire_at = f.fire_time + interval '{period} s'
    from unnest(:shards::smallint[], :jobs::uuid[], :fires::timestamptz[], :ids::uuid[], :keys::text[])
         as f(shard_id, job_id, fire_time, id, idem_key)
    where c.priority = 1 and c.next_fire_at = any(array[f.fire_time])
      and c.shard_id::int = any(array[f.shard_id::int]) and c.job_id between f.job_id and f.job_id
    returning f.*, c.tenant_id, c.priority)
insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, duration_ms, shard_id,
                              priority, lane, id, tenant_id, job_id, state, idem_key)
select :now, fire_time, fire_time, 1, 1, 0, 3, shard_id, priority, 0, id, tenant_id, job_id, 'SUCCESS', idem_key
from moved;
"""


class Scripts:
    """The scripts, written for so many clients and rows a batch."""

    def __init__(self, workers: int, batch: int, period: int) -> None:
        self.batch = batch
        self.words = {"share": 4096 // workers, "batch": batch, "period": period, "token": f"'{TOKEN}'"}
        self.head = "\\set batch :batch + 1\n" + self._line(PICK) + "\n"

    def lifecycle(self) -> Path:
        """Fire and end, as the store does."""
        return self._write("lifecycle", self._fire(TOKEN), as_script(sql("instances/instances/end"), self._end()) + ";")

    def single(self, server: Server, database: str) -> Path:
        """The same in one table that is updated, with an outbox row at the end."""
        psql.run(server, database, SINGLE_TABLE)
        fire = self._fire("null").replace("instance_live", "instance_single")
        return self._write("single", fire, self._line(SINGLE_CLAIM), self._line(SINGLE_END))

    def append(self) -> Path:
        """Only what cannot be left out: cursor and history."""
        return self._write("append", self._line(APPEND))

    def _fire(self, token: str) -> str:
        places = [":shards", ":jobs", self._same("1"), ":fires", ":nexts", ":ids", ":keys", ":fires",
                  self._same(token), self._same("13000"), self._same("null"), self._same("0"),
                  f"'{TOKEN}'", ":now", "1::smallint"]  # fmt: skip
        return as_script(sql("schedules/cursors/fire"), places) + ";"

    def _end(self) -> list[str]:
        return [":shards", ":ids", *map(self._same, ["1", *plain_end("node-1")]), ":now"]

    def _same(self, value: str) -> str:
        return f"'{{{','.join([value] * self.batch)}}}'"

    def _line(self, text: str) -> str:
        return " ".join(text.format(**self.words).split())

    def _write(self, name: str, *statements: str) -> Path:
        path = FOLDER / f"{name}.sql"
        path.write_text(self.head + "\n".join(statements) + "\n")
        return path
