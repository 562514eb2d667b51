-- :tenant_id :job_id :limit
-- Always one row. Null: no call of the job has ended.
select avg(h.duration_ms) / 1000.0 as seconds
from (select duration_ms from instance_history
      where job_id = :job_id and tenant_id is not distinct from :tenant_id and duration_ms is not null
      order by fire_time desc
      limit :limit) h
