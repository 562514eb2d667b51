-- :shard :id :tenant_id
-- Zero rows: no backfill of this tenant has that id.
select b.* from backfill b where b.shard_id = :shard and b.id = :id and b.tenant_id = :tenant_id
