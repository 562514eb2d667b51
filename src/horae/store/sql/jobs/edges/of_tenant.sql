-- :tenant_id
-- Which job each job of a tenant starts after, of those that are at home in this cell.
select j.name, j.definition -> 'after' ->> 'job' as source
from job j
where j.tenant_id = :tenant_id and j.definition ? 'after' and j.status <> 'REMOVED'
  and not exists (select from shard s where s.shard_id = j.shard_id and s.state <> 'ACTIVE')
