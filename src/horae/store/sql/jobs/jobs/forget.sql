-- :before :limit
-- Zero rows: none has ended so long ago, or its shard is moving. A job stays while an instance of it lives or a dead letter
-- of it is kept. Types and rolling sets stay: their rows are in many shards.
with old as materialized (
    select j.shard_id, j.id from job j
    where lower(j.status) in ('completed', 'removed') and j.changed_at < :before
      and j.definition -> 'trigger' ->> 'kind' not in ('keyed', 'rolling')
      and not exists (select from instance_live l where l.shard_id = j.shard_id and l.job_id = j.id)
      and not exists (select from dead_letter d where d.job_id = j.id)
      and not exists (select from shard s where s.shard_id = j.shard_id and s.state <> 'ACTIVE')
    order by j.changed_at limit :limit
    for update skip locked),
cursors as (
    delete from job_cursor c using old where c.shard_id = old.shard_id and c.job_id = old.id),
versions as (
    delete from job_version v using old where v.shard_id = old.shard_id and v.job_id = old.id),
children as (
    delete from graph_child c using graph_run r, old
    where r.job_id = old.id and c.shard_id = r.shard_id and c.run_id = r.id),
steps as (
    delete from graph_step s using graph_run r, old
    where r.job_id = old.id and s.shard_id = r.shard_id and s.run_id = r.id),
runs as (
    delete from graph_run r using old where r.job_id = old.id and r.shard_id = old.shard_id),
backfills as (
    delete from backfill b using old where b.shard_id = old.shard_id and b.job_id = old.id)
delete from job j using old where j.shard_id = old.shard_id and j.id = old.id
returning j.shard_id
