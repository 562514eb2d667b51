-- :tenant_id :day
-- What a tenant has in this cell, by the name of the bound, and the bytes that it has logged today.
select 'jobs' as kind, count(*) as used from job where tenant_id = :tenant_id and status <> 'REMOVED'
union all
select 'sources', count(*) from source where tenant_id = :tenant_id
union all
select counted.kind, counted.used
from reference r
join calendar c on (c.shard_id, c.id) = (r.home_shard, r.id)
cross join lateral (values ('calendars', 1), ('calendar_days', c.days)) as counted (kind, used)
where r.tenant_id = :tenant_id and r.kind = 'calendar'
union all
select 'log_bytes', bytes from log_usage where tenant_id = :tenant_id and day = :day
