-- Always a row. `walked_at` is set when so many ended ones were looked at and there may be more behind the last of them.
-- $12: the job is spread, so each of its live rows has a key; they are found by it among all others of their shards.
with scanned as materialized (
    select h.id, h.job_id, h.business_key, h.fire_time, h.state, h.reason, h.attempt, h.retry_count, h.ended_at,
           h.trigger_delay_ms, h.duration_ms, h.range_to, h.range_count, h.error_code, h.error_msg, h.idem_key,
           h.due_at, h.priority, h.lane, h.job_version, h.worker_id
    from instance_history h
    where h.job_id = $2 and h.tenant_id = $1 and (h.fire_time, h.id) < ($4, $5)
      and h.fire_time >= $6 and h.fire_time < $7
    order by h.fire_time desc, h.id desc
    limit $10),
walked as (
    select s.fire_time as walked_at, s.id as walked_id
    from scanned s
    where (select count(*) from scanned) >= $10
    order by s.fire_time, s.id
    limit 1),
every as (
    select * from (
        (select l.id, l.job_id, l.business_key, l.fire_time, l.state, null::text, l.attempt, l.retry_count, l.changed_at,
                l.trigger_delay_ms, null::int, null::timestamptz, null::int, null::text, l.error_msg, l.idem_key,
                l.due_at, l.priority, l.lane, l.job_version, l.worker_id
         from (select * from instance_live
               where $12 and shard_id = any($3::smallint[]) and job_id = $2 and business_key is not null
               union all
               select * from instance_live where not $12 and shard_id = any($3::smallint[]) and job_id = $2) l
         where l.tenant_id = $1 and (l.fire_time, l.id) < ($4, $5) and l.fire_time >= $6 and l.fire_time < $7
           and ($8::text[] = '{}' or l.state = any($8)) and ($9::text is null or l.business_key = $9)
         order by l.fire_time desc, l.id desc
         limit $11)
        union all
        select * from scanned s
        where ($8::text[] = '{}' or s.state = any($8)) and ($9::text is null or s.business_key = $9)
    ) u
    order by fire_time desc, id desc
    limit $11)
select every.*, walked.walked_at, walked.walked_id
from (select) always
left join walked on true
left join every on true
