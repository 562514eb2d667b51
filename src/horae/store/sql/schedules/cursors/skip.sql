-- :shards :job_ids :versions :stood_times :fire_times :next_fire_times :instance_ids :idem_keys :range_ends :range_counts :reasons :error_msgs :now :priority
-- No row for a skip: another node took it, the job changed, or a shard is closed.
with moved as (
    update job_cursor c
    set next_fire_at = f.next_fire_at
    from unnest(:shards::text::smallint[], :job_ids::text::uuid[], :versions::text::int[],
                :stood_times::text::timestamptz[], :fire_times::text::timestamptz[],
                :next_fire_times::text::timestamptz[], :instance_ids::text::uuid[], :idem_keys::text::text[],
                :range_ends::text::timestamptz[], :range_counts::text::int[], :reasons::text::text[],
                :error_msgs::text::text[])
         as f(shard_id, job_id, version, stood_at, fire_time, next_fire_at, id, idem_key, range_to, range_count, reason,
              error_msg)
    -- Where it stood: at the fire's time, or at the time the fire was moved forward to.
    where c.priority = :priority and c.next_fire_at = any(array[f.stood_at])
      and c.shard_id::int = any(array[f.shard_id::int]) and c.job_id between f.job_id and f.job_id
      and c.version = f.version
      and not exists (select from shard s where s.shard_id = f.shard_id and s.state <> 'ACTIVE')
    returning f.*, c.tenant_id, c.priority)
insert into instance_history (ended_at, fire_time, due_at, range_to, range_count, job_version, attempt, retry_count,
                              shard_id, priority, lane, id, tenant_id, job_id, state, reason, idem_key, error_msg)
select :now, fire_time, fire_time, range_to, range_count, version, 0, 0,
       shard_id, priority, 0, id, tenant_id, job_id, 'SKIPPED', reason, idem_key, error_msg
from moved
returning id
