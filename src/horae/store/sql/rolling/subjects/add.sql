-- :shards :keys :job_id :tenant_id :aged_at :now
-- No row for a subject: it is there already, or its shard is closed.
insert into subject (aged_at, added_at, updated_at, shard_id, job_id, tenant_id, key)
select :aged_at, :now, :now, g.shard_id, :job_id, :tenant_id, g.key
from unnest(:shards::text::smallint[], :keys::text::text[]) as g(shard_id, key)
where not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
on conflict (shard_id, job_id, key) do nothing
returning key
