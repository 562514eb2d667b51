-- :shard :tenant_id :route :resource :key :fingerprint :instance_id :answer :now :expires_at :lock_timeout
-- Zero rows: the key was used before and is still remembered, or the shard is closed. Who holds it uncommitted is
-- waited for no longer than :lock_timeout; the rest of the transaction waits for its locks as before.
insert into idempotency as i (shard_id, tenant_id, route, resource, key, fingerprint, instance_id, answer, created_at,
                              expires_at)
select :shard, :tenant_id, :route, :resource, :key, :fingerprint, :instance_id, :answer, :now::timestamptz, :expires_at
where {fence}
  and set_config('lock_timeout', :lock_timeout, true) is not null
on conflict (shard_id, tenant_id, route, resource, key) do update
set fingerprint = excluded.fingerprint, instance_id = excluded.instance_id, answer = excluded.answer,
    created_at = excluded.created_at, expires_at = excluded.expires_at
where i.expires_at <= :now
returning set_config('lock_timeout', '0', true)
