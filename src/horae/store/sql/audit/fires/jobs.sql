-- :shard :id :tenant_id :limit
-- A page of jobs that recur, after a place. A shard on its way to another cell has its jobs in both, and is open in one.
select {audited_job}
from job j
left join job_cursor c on c.shard_id = j.shard_id and c.job_id = j.id
where (j.shard_id, j.id) > (:shard, :id) and (:tenant_id::uuid is null or j.tenant_id = :tenant_id)
  and j.definition -> 'trigger' ->> 'kind' in ('cron', 'interval')
  and exists (select from shard s where s.shard_id = j.shard_id and s.state = 'ACTIVE')
order by j.shard_id, j.id
limit :limit
