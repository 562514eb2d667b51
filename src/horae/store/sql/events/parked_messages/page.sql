-- :tenant_id :after_id :limit
-- A tenant's parked messages in the order of their ids, after the last one seen.
select id, at, channel_id, intake, place, code, reason, body from parked
where tenant_id = :tenant_id and id > :after_id
order by id limit :limit
