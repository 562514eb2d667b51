-- Zero rows: the shard is closed.
insert into calendar as c (shard_id, id, tenant_id, name, body, days, created_at, changed_at)
select $1, $2, $3, $4, $5, $6, $7, $7
where not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
on conflict (shard_id, tenant_id, name) do update
set body = excluded.body, days = excluded.days, version = c.version + 1, changed_at = excluded.changed_at
returning id
