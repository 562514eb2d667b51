-- The active rolling jobs, as this cell knows them, whoever they belong to.
select r.home_shard, r.id, r.tenant_id, r.name, (r.body ->> 'version')::int as version,
       r.body -> 'definition' as definition
from reference r
where r.kind = 'job' and r.body -> 'definition' -> 'trigger' ->> 'kind' = 'rolling' and r.body ->> 'status' = 'ACTIVE'
