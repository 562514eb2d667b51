-- :before :limit
-- Cursors of active jobs that stand before a time, the oldest first. Tenants that are held keep theirs where they are.
select {audited_job}
from job_cursor c
join job j on j.shard_id = c.shard_id and j.id = c.job_id and j.version = c.version
where c.priority in (0, 1, 2) and c.next_fire_at < :before and j.status = 'ACTIVE'
  and j.definition -> 'trigger' ->> 'kind' in ('cron', 'interval')
  and exists (select from shard s where s.shard_id = c.shard_id and s.state = 'ACTIVE')
  and not exists (select from reference t where t.kind = 'tenant' and t.id = c.tenant_id and t.body ? 'held')
order by c.next_fire_at
limit :limit
