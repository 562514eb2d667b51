-- :tenant_id :job_id :range_from :range_to :limit
-- Always one row: how many rows of the range were read, no more than the limit, and how their fires went.
select sum(f.many)::int as rows, count(*) filter (where f.succeeded)::int as succeeded,
       count(*) filter (where f.failed and not f.succeeded)::int as failed
from (select count(*) as many, bool_or(h.state = 'SUCCESS') as succeeded, bool_or(h.state = 'DEAD') as failed
      from (select fire_time, state from instance_history
            where job_id = :job_id and tenant_id is not distinct from :tenant_id and fire_time >= :range_from
              and fire_time < :range_to
            order by fire_time
            limit :limit) h
      group by h.fire_time) f
