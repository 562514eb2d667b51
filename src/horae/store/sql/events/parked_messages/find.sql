-- :shard :id :tenant_id
-- No row: it was dealt with.
select id, at, channel_id, intake, place, code, reason, body from parked
where shard_id = :shard and id = :id and tenant_id = :tenant_id
