-- No row: it was dealt with.
select id, at, channel_id, intake, place, code, reason, body from parked
where shard_id = $1 and id = $2 and tenant_id = $3
