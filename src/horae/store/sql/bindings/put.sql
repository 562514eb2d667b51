-- Zero rows: the shard is closed.
insert into role_binding as b (shard_id, tenant_id, principal, roles, changed_at)
select $1, $2, $3, $4, $5
where not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
on conflict (shard_id, tenant_id, principal) do update
set roles = excluded.roles, changed_at = excluded.changed_at, version = b.version + 1
returning principal
