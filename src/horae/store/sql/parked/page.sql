-- A tenant's parked messages in the order of their ids, after the last one seen.
select id, at, channel_id, intake, place, code, reason, body from parked
where tenant_id = $1 and id > $2
order by id limit $3
