-- Zero rows: no backfill of this tenant has that id.
select b.* from backfill b where b.shard_id = $1 and b.id = $2 and b.tenant_id = $3
