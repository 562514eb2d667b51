-- :shard :tenant_id :principal
-- How many people and groups have roles in a tenant, whether that one does, and how many others lost theirs and are not
-- forgotten yet. The principals of keys are counted with the keys.
select count(*) filter (where cardinality(roles) > 0),
       coalesce(bool_or(principal = :principal and cardinality(roles) > 0), false),
       count(*) filter (where cardinality(roles) = 0 and principal <> :principal)
from role_binding
where shard_id = :shard and tenant_id = :tenant_id and strpos(principal, ':') > 0
