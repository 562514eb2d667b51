-- :shard :tenant_id :after_name :limit
-- A tenant's secrets by name, after the last one seen; never their values.
select name, version, changed_at, changed_by, hosts from secret
where shard_id = :shard and tenant_id = :tenant_id and name collate "C" > :after_name and sealed is not null
order by name collate "C" limit :limit
