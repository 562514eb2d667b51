-- :shard :tenant_id :name
-- How many secrets a tenant has at home here, whether one of that name is among them, and how many others were removed
-- and are not forgotten yet.
select count(*) filter (where sealed is not null), coalesce(bool_or(name = :name and sealed is not null), false),
       count(*) filter (where sealed is null and name <> :name)
from secret
where shard_id = :shard and tenant_id = :tenant_id
