-- :shard :session_id :tenant_id :digest :principal :name :groups :key_id :created_at :expires_at :idle_s :login
-- Zero rows: that login has opened a session already, or the shard is closed.
insert into session (shard_id, id, tenant_id, digest, principal, name, groups, key_id, created_at, seen_at, expires_at,
                     idle_s, login)
select :shard, :session_id, :tenant_id, :digest, :principal, :name, :groups, :key_id, :created_at, :created_at,
       :expires_at, :idle_s, :login
where {fence}
on conflict (shard_id, login) do nothing
returning id
