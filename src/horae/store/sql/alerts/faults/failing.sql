-- :job_ids :counts
-- The jobs among them whose last runs, as many as their count, all failed.
select g.job_id
from unnest(:job_ids::uuid[], :counts::int[]) as g(job_id, many)
cross join lateral (
    select count(*) as runs, coalesce(bool_and(r.state = 'DEAD'), false) as all_dead
    from (select b.state
          from (select h.state, h.fire_time from instance_history h
                where h.job_id = g.job_id
                order by h.fire_time desc limit 2000) b
          where b.state in ('SUCCESS', 'DEAD')
          order by b.fire_time desc limit g.many) r) last
where last.runs >= g.many and last.all_dead
