-- How many people and groups have roles in a tenant, whether that one does, and how many others lost theirs and are not
-- forgotten yet. The principals of keys are counted with the keys.
select count(*) filter (where cardinality(roles) > 0), coalesce(bool_or(principal = $3 and cardinality(roles) > 0), false),
       count(*) filter (where cardinality(roles) = 0 and principal <> $3)
from role_binding
where shard_id = $1 and tenant_id = $2 and strpos(principal, ':') > 0
