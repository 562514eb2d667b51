-- :shards :keys :versions :present :aged_times :job_id :tenant_id :now
-- A row for each subject: whether the change was applied, and whether its shard is open; else it was not. A
-- change with the version that is known, or a lower one, is not applied. What was created for a removed subject may end.
with wanted as materialized (
    select w.*, not exists (select from shard s where s.shard_id = w.shard_id and s.state <> 'ACTIVE') as open
    from unnest(:shards::text::smallint[], :keys::text::text[], :versions::text::bigint[], :present::text::boolean[],
                :aged_times::text::timestamptz[]) as w(shard_id, key, version, present, aged_at)),
newer as (
    insert into subject_version as v (changed_at, version, shard_id, present, job_id, tenant_id, key)
    select :now, w.version, w.shard_id, w.present, :job_id, :tenant_id, w.key from wanted w where w.open
    on conflict (shard_id, job_id, key) do update
    set version = excluded.version, present = excluded.present, changed_at = excluded.changed_at
    where v.version < excluded.version
    returning v.shard_id, v.key),
added as (
    insert into subject (aged_at, added_at, updated_at, shard_id, job_id, tenant_id, key)
    select w.aged_at, :now, :now, w.shard_id, :job_id, :tenant_id, w.key
    from wanted w join newer n on n.shard_id = w.shard_id and n.key = w.key
    where w.present
    on conflict (shard_id, job_id, key) do nothing),
gone as (
    delete from subject u using wanted g join newer n on n.shard_id = g.shard_id and n.key = g.key
    where not g.present and u.shard_id = any(array[g.shard_id]) and u.job_id = {batch_job}
      and u.key between g.key and g.key and u.tenant_id = :tenant_id)
select w.key, w.open, n.key is not null as applied
from wanted w left join newer n on n.shard_id = w.shard_id and n.key = w.key
