-- How many secrets a tenant has at home here, whether one of that name is among them, and how many others were removed and
-- are not forgotten yet.
select count(*) filter (where sealed is not null), coalesce(bool_or(name = $3 and sealed is not null), false),
       count(*) filter (where sealed is null and name <> $3)
from secret
where shard_id = $1 and tenant_id = $2
