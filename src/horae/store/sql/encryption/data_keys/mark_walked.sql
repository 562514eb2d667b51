-- :shard :tenant_id :version :now
-- Zero rows: another process was first, or the shard is closed.
update data_key k
set resealed_at = :now
where k.shard_id = :shard and k.tenant_id = :tenant_id and k.version <= :version and k.resealed_at is null
  and not exists (select from shard s where s.shard_id = k.shard_id and s.state <> 'ACTIVE')
returning k.version
