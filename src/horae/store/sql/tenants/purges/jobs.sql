-- :tenant_id :shards :limit
-- The tenant's jobs that are at home here, removed ones too.
select j.shard_id, j.id from job j where j.shard_id = any(:shards::smallint[]) and j.tenant_id = :tenant_id limit :limit
