-- :shards :job_ids :kept
-- Zero rows: these graphs have no more ended runs than are kept. At most 100 runs of a graph go at once.
with old as materialized (
    select r.shard_id, r.id
    from unnest(:shards::smallint[], :job_ids::uuid[]) as g(shard_id, job_id)
    cross join lateral (
        select r.shard_id, r.id from graph_run r
        where r.job_id = g.job_id and r.shard_id = g.shard_id and r.ended_at is not null
        order by r.id desc
        offset :kept limit 100) r
    where not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')),
children as (
    delete from graph_child c using old
    where c.shard_id = any(array[old.shard_id]) and c.run_id between old.id and old.id),
steps as (
    delete from graph_step s using old where s.shard_id = any(array[old.shard_id]) and s.run_id between old.id and old.id)
delete from graph_run r using old where r.shard_id = any(array[old.shard_id]) and r.id between old.id and old.id
returning r.id
