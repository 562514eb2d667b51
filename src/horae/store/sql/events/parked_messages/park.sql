-- :shard :id :tenant_id :channel_id :intake :place :digest :code :reason :body :at
-- Zero rows: this very message is parked already, or the shard is closed.
insert into parked (shard_id, id, tenant_id, channel_id, intake, place, digest, code, reason, body, at)
select :shard, :id, :tenant_id, :channel_id, :intake, :place, :digest, :code, :reason, :body, :at
where {fence}
on conflict (shard_id, channel_id, digest) do update set code = excluded.code, reason = excluded.reason
returning id
