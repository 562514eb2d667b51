-- :shard :tenant_id :version :from_wrapped :to_wrapped :now
-- Zero rows: another process has wrapped it anew, or the shard is closed.
update data_key k
set wrapped = :to_wrapped, revision = k.revision + 1, changed_at = :now
where k.shard_id = :shard and k.tenant_id = :tenant_id and k.version = :version and k.wrapped = :from_wrapped
  and not exists (select from shard s where s.shard_id = k.shard_id and s.state <> 'ACTIVE')
returning k.version
