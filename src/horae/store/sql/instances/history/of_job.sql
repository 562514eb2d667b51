-- :tenant_id :job_id :shards :before_fire_time :before_id :since :until :states :business_key :scan_limit :limit :spread
-- Always a row. `walked_at` is set when so many ended ones were looked at and there may be more behind the last of
-- them.
-- `is not distinct from`: no index fits it, so that of the tenant is not taken for that of the job.
-- :spread: the job is spread, so each of its live rows has a key; they are found by it among all others of their
-- shards.
with scanned as materialized (
    select h.id, h.job_id, h.business_key, h.fire_time, h.state, h.reason, h.attempt, h.retry_count, h.ended_at,
           h.trigger_delay_ms, h.duration_ms, h.range_to, h.range_count, h.error_code, h.error_msg, h.idem_key,
           h.due_at, h.priority, h.lane, h.job_version, h.worker_id
    from instance_history h
    where h.job_id = :job_id and h.tenant_id is not distinct from :tenant_id
      and (h.fire_time, h.id) < (:before_fire_time, :before_id)
      and h.fire_time >= :since and h.fire_time < :until
    order by h.fire_time desc, h.id desc
    limit :scan_limit),
walked as (
    select s.fire_time as walked_at, s.id as walked_id
    from scanned s
    where (select count(*) from scanned) >= :scan_limit
    order by s.fire_time, s.id
    limit 1),
every as (
    select * from (
        (select l.id, l.job_id, l.business_key, l.fire_time, l.state, null::text, l.attempt, l.retry_count,
                l.changed_at, l.trigger_delay_ms, null::int, null::timestamptz, null::int, null::text, l.error_msg,
                l.idem_key, l.due_at, l.priority, l.lane, l.job_version, l.worker_id
         from (select * from instance_live
               where :spread and shard_id = any(:shards::smallint[]) and job_id = :job_id and business_key is not null
               union all
               select * from instance_live
               where not :spread and shard_id = any(:shards::smallint[]) and job_id = :job_id) l
         where l.tenant_id = :tenant_id and (l.fire_time, l.id) < (:before_fire_time, :before_id)
           and l.fire_time >= :since and l.fire_time < :until
           and (:states::text[] = '{}' or l.state = any(:states))
           and (:business_key::text is null or l.business_key = :business_key)
         order by l.fire_time desc, l.id desc
         limit :limit)
        union all
        select * from scanned s
        where (:states::text[] = '{}' or s.state = any(:states))
          and (:business_key::text is null or s.business_key = :business_key)
    ) u
    order by fire_time desc, id desc
    limit :limit)
select every.*, walked.walked_at, walked.walked_id
from (select) always
left join walked on true
left join every on true
