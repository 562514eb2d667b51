-- Zero rows: a living key of that name exists, or the shard is closed.
insert into api_key (shard_id, id, tenant_id, name, digest, scopes, created_by, expires_at, created_at, changed_at)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $9
where not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
on conflict do nothing
returning id
