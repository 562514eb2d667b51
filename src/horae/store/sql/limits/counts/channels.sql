-- :shard :tenant_id :kind :name
-- How many channels of a kind a tenant has at home here, whether one of that name is among them, and how many others
-- were removed and are not forgotten yet.
select count(*) filter (where body is not null), coalesce(bool_or(name = :name and body is not null), false),
       count(*) filter (where body is null and name <> :name)
from channel
where shard_id = :shard and tenant_id = :tenant_id and kind = :kind
