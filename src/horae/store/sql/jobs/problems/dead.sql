-- :tenant_id :now :limit
-- The jobs of the newest open dead letters, so many of which are read. Zero rows: no dead letter is open.
select n.job_id, count(*)::int as open,
       (count(*) filter (where n.created_at > :now::timestamptz - interval '1 hour'))::int as last_hour,
       min(n.created_at) as first_at, max(n.created_at) as last_at
from (select d.job_id, d.created_at from dead_letter d
      where d.tenant_id = :tenant_id and d.replay_status in ('NEW', 'DEAD_AGAIN')
      order by d.created_at desc, d.instance_id desc
      limit :limit) n
group by n.job_id
