-- Zero rows: this very message is parked already, or the shard is closed.
insert into parked (shard_id, id, tenant_id, channel_id, intake, place, digest, code, reason, body, at)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
where not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
on conflict (shard_id, channel_id, digest) do update set code = excluded.code, reason = excluded.reason
returning id
