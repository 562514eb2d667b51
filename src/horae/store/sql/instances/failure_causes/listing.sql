-- :tenant_id :now :limit :job_id
-- The failure causes of the newest open dead letters in this cell: so many of them are read. One row without a cause
-- has those whose cause is not known yet. Zero rows: no dead letter is open.
-- The sample is joined: to order the rows of each group would sort all of them.
with newest as materialized (
    select d.cause_id, d.job_id, d.error_code, d.job_version, d.created_at, d.instance_id from dead_letter d
    where d.tenant_id = :tenant_id and d.replay_status in ('NEW', 'DEAD_AGAIN')
      and (:job_id::uuid is null or d.job_id = :job_id)
    order by d.created_at desc, d.instance_id desc
    limit :limit),
grouped as materialized (
    select n.cause_id, n.job_id, n.error_code, count(*)::int as open,
           (count(*) filter (where n.created_at > :now::timestamptz - interval '1 hour'))::int as last_hour,
           (count(*) filter (where n.created_at > :now - interval '1 day'))::int as last_day,
           (count(*) filter (where n.created_at <= :now - interval '1 day'
                               and n.created_at > :now - interval '2 days'))::int as day_before,
           min(n.created_at) as first_at, max(n.created_at) as last_at,
           min(n.job_version) as oldest_version, max(n.job_version) as newest_version
    from newest n
    group by n.cause_id, n.job_id, n.error_code)
select distinct on (g.cause_id, g.job_id, g.error_code) g.*, n.instance_id as sample
from grouped g
join newest n
    on n.created_at = g.last_at and n.job_id = g.job_id and n.error_code = g.error_code
       and n.cause_id is not distinct from g.cause_id
order by g.cause_id, g.job_id, g.error_code, n.instance_id desc
