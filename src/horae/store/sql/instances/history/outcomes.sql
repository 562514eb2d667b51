-- :tenant_id :job_id :since :until :lane :limit
-- How the fires of a job between two times ended; at most so many are counted, the newest.
select h.state, count(*)::int as many
from (select state from instance_history
      where job_id = :job_id and tenant_id is not distinct from :tenant_id and fire_time >= :since and fire_time < :until
        and (:lane::int is null or lane = :lane)
      order by fire_time desc
      limit :limit) h
group by h.state
