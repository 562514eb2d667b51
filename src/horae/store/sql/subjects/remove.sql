-- No row for a subject: it was not there, or its shard is closed. What was born of it may end.
delete from subject u
using unnest($1::text::smallint[], $2::text::text[]) as g(shard_id, key)
where u.shard_id = any(array[g.shard_id]) and u.job_id = $3 and u.key between g.key and g.key and u.tenant_id = $4
  and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
returning u.key
