-- Zero rows: another process has wrapped it anew, or the shard is closed.
update data_key k
set wrapped = $5, revision = k.revision + 1, changed_at = $6
where k.shard_id = $1 and k.tenant_id = $2 and k.version = $3 and k.wrapped = $4
  and not exists (select from shard s where s.shard_id = k.shard_id and s.state <> 'ACTIVE')
returning k.version
