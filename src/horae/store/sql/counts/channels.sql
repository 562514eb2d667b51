-- How many channels of a kind a tenant has at home here, whether one of that name is among them, and how many others were
-- removed and are not forgotten yet.
select count(*) filter (where body is not null), coalesce(bool_or(name = $4 and body is not null), false),
       count(*) filter (where body is null and name <> $4)
from channel
where shard_id = $1 and tenant_id = $2 and kind = $3
