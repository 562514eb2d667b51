-- The edges of all tenants whose jobs are at home in this cell.
select (j.definition -> 'after' ->> 'edge_id')::uuid as id, j.tenant_id, j.name, j.version, j.id as job_id,
       j.definition -> 'after' as after, j.definition -> 'trigger' ->> 'kind' = 'keyed' as is_keyed
from job j
where j.definition ? 'after' and j.status <> 'REMOVED'
  and not exists (select from shard s where s.shard_id = j.shard_id and s.state <> 'ACTIVE')
