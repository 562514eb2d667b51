-- Zero rows: the key was used before and is still remembered, or the shard is closed. Who holds it uncommitted is waited
-- for no longer than $11; the rest of the transaction waits for its locks as before.
insert into idempotency as i (shard_id, tenant_id, route, resource, key, fingerprint, instance_id, answer, created_at, expires_at)
select $1, $2, $3, $4, $5, $6, $7, $8, $9::timestamptz, $10
where not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
  and set_config('lock_timeout', $11, true) is not null
on conflict (shard_id, tenant_id, route, resource, key) do update
set fingerprint = excluded.fingerprint, instance_id = excluded.instance_id, answer = excluded.answer,
    created_at = excluded.created_at, expires_at = excluded.expires_at
where i.expires_at <= $9
returning set_config('lock_timeout', '0', true)
