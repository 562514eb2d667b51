-- :channel_ids
-- How far these have come; none for one that nobody has looked at yet.
select channel_id, taken, parked, taken_at, waiting, looked_at, error from intake_position
where channel_id = any(:channel_ids::uuid[])
