-- :shard :tenant_id :name
-- The hosts that a secret is bound to, locked until it is written anew; zero rows: there is none yet.
select hosts from secret where shard_id = :shard and tenant_id = :tenant_id and name = :name for update
