-- :shards :keys :job_id :tenant_id
-- No row for a subject: it was not there, or its shard is closed. What was created for it may end.
delete from subject u
using unnest(:shards::text::smallint[], :keys::text::text[]) as g(shard_id, key)
where u.shard_id = any(array[g.shard_id])
  and u.job_id = {batch_job}
  and u.key between g.key and g.key
  and u.tenant_id = :tenant_id
  and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
returning u.key
