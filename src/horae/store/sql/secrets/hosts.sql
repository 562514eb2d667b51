-- The hosts that a secret is bound to, locked until it is written anew; zero rows: there is none yet.
select hosts from secret where shard_id = $1 and tenant_id = $2 and name = $3 for update
