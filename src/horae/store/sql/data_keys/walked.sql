-- Zero rows: another process was first, or the shard is closed.
update data_key k
set resealed_at = $4
where k.shard_id = $1 and k.tenant_id = $2 and k.version <= $3 and k.resealed_at is null
  and not exists (select from shard s where s.shard_id = k.shard_id and s.state <> 'ACTIVE')
returning k.version
