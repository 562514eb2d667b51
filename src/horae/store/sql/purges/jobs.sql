-- The tenant's jobs that are at home here, removed ones too.
select j.shard_id, j.id from job j where j.shard_id = any($2::smallint[]) and j.tenant_id = $1 limit $3
