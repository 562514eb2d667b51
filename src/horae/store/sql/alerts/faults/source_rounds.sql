-- :tenant_id
-- The last finished round of each source of a tenant that is not paused.
select s.name as source, s.job_id, r.number, r.counts
from source s
cross join lateral (
    select d.number, d.counts from source_round d
    where d.shard_id = s.shard_id and d.source_id = s.id and d.status = 'DONE'
    order by d.number desc limit 1) r
where s.tenant_id = :tenant_id and s.paused_at is null
order by s.name
limit 1000
