-- :first_shards :last_shards :without_tenant_ids :limit
-- Null: nothing waits for its time. Otherwise nothing in these runs of shards is due before the answer. Of each class
-- the first :limit rows are looked at, whoever owns them: where none of them is ours, the last one's time is the
-- answer.
select min(f.at) from (
    select c.at from generate_series(0, 2) as class(priority)
    cross join lateral (
        select coalesce(min(w.at) filter (where w.ours), case when count(*) = :limit then max(w.at) end) as at
        from (select j.next_fire_at as at, j.tenant_id <> all(:without_tenant_ids::uuid[])
                     and exists (select from unnest(:first_shards::int[], :last_shards::int[]) as run(first, last)
                                 where j.shard_id::int between run.first and run.last) as ours
              from job_cursor j
              where j.priority = class.priority
              order by j.next_fire_at, j.shard_id::int, j.job_id limit :limit) w) c
    union all
    select c.at from generate_series(0, 2) as class(priority) cross join generate_series(0, 2) as way(lane)
    cross join lateral (
        select coalesce(min(w.at) filter (where w.ours), case when count(*) = :limit then max(w.at) end) as at
        from (select i.due_at as at, i.tenant_id <> all(:without_tenant_ids::uuid[])
                     and exists (select from unnest(:first_shards::int[], :last_shards::int[]) as run(first, last)
                                 where i.shard_id::int between run.first and run.last) as ours
              from instance_live i
              where i.state in ('INIT', 'FAIL') and i.queue is null and i.priority = class.priority
                and i.lane = way.lane
              order by i.due_at, i.shard_id::int, i.id limit :limit) w) c) as f
