-- How the fires of a job between two times ended; at most so many are counted, the newest.
select h.state, count(*)::int as many
from (select state from instance_history
      where job_id = $2 and tenant_id = $1 and fire_time >= $3 and fire_time < $4 and ($5::int is null or lane = $5)
      order by fire_time desc
      limit $6) h
group by h.state
