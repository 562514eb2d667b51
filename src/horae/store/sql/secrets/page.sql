-- A tenant's secrets by name, after the last one seen; never their values.
select name, version, changed_at, changed_by, hosts from secret
where shard_id = $1 and tenant_id = $2 and name collate "C" > $3 and sealed is not null
order by name collate "C" limit $4
