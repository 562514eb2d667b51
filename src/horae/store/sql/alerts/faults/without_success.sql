-- :tenant_id :job :labels :owner :since :limit
-- The scheduled jobs of a tenant at home in this cell that match a selector, are older than :since and had no success
-- since then. Types are left out: their tasks may succeed in other cells.
select j.id as job_id
from job j
where j.tenant_id = :tenant_id and j.status = 'ACTIVE' and j.created_at < :since
  and (:job::text is null or j.name = :job)
  and (:labels::jsonb = '{}' or coalesce(j.definition -> 'labels', '{}') @> :labels)
  and (:owner::text is null or j.definition ->> 'owner' = :owner)
  and exists (select from job_cursor k where k.shard_id = j.shard_id and k.job_id = j.id)
  and not exists (select from instance_history h
                  where h.job_id = j.id and h.fire_time >= :since and h.state = 'SUCCESS')
order by j.name
limit :limit
