-- Zero rows: that login has opened a session already, or the shard is closed.
insert into session (shard_id, id, tenant_id, digest, principal, name, groups, key_id, created_at, seen_at, expires_at, idle_s, login)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11, $12
where not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
on conflict (shard_id, login) do nothing
returning id
