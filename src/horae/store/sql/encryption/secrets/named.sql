-- :shards :tenant_ids :names
-- The secrets of these names, as this cell's rows and copies say; without a value: it was removed. No row: there is
-- none.
select s.tenant_id, s.name, s.version, s.sealed, s.hosts, s.changed_at
from unnest(:shards::smallint[], :tenant_ids::uuid[], :names::text[]) as w(shard_id, tenant_id, name)
join secret s on (s.shard_id, s.tenant_id, s.name) = (w.shard_id, w.tenant_id, w.name)
