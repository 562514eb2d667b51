-- How many channels of a kind a tenant has at home here, and whether one of that name is among them.
select count(*), coalesce(bool_or(name = $4), false) from channel
where shard_id = $1 and tenant_id = $2 and kind = $3 and body is not null
