-- Zero rows: it was changed meanwhile, or its shard is moving.
update secret s
set sealed = $5, changed_at = $6, version = s.version + 1
where s.shard_id = $1 and s.tenant_id = $2 and s.name = $3 and s.version = $4 and s.sealed is not null
  and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
returning s.name
