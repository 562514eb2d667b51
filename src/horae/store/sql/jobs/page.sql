-- A page of living jobs by name, after the last one's. Names are compared byte by byte, so that all cells agree.
select j.shard_id, j.id, j.tenant_id, j.name, j.version, j.status, j.definition, c.next_fire_at
from job j
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
where j.tenant_id = $1 and j.status <> 'REMOVED'
  and j.name collate "C" > $2 and j.name collate "C" >= $3 and starts_with(j.name, $3)
  and ($4::text is null or j.status = $4)
  and ($5::jsonb = '{}' or coalesce(j.definition -> 'labels', '{}') @> $5)
  and coalesce(j.definition -> 'labels', '{}') ?& $6::text[]
  and ($8::text is null or j.definition -> 'trigger' ->> 'kind' = $8)
  and not exists (select from shard s where s.shard_id = j.shard_id and s.state <> 'ACTIVE')
order by j.name collate "C"
limit $7
