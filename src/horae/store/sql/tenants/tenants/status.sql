-- :shard :tenant_id
-- Zero rows: the tenant is not at home here.
select status from tenant where shard_id = :shard and id = :tenant_id
