-- Zero rows: the tenant has a key of that version already, or its shard is closed.
insert into data_key (shard_id, tenant_id, version, wrapped, created_at, changed_at)
select $1, $2, $3, $4, $5, $5
where not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
on conflict do nothing
returning version
