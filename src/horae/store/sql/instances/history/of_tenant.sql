-- :tenant_id :shards :before_id :from_id :states :business_key :limit
-- Those created between two ids, newest first; fewer than the limit: that is all.
select * from (
    (select l.id, l.job_id, l.business_key, l.fire_time, l.state, null::text as reason, l.attempt, l.retry_count,
            l.changed_at, l.trigger_delay_ms, null::int as duration_ms, null::timestamptz as range_to,
            null::int as range_count, null::text as error_code, l.error_msg, l.idem_key,
            l.due_at, l.priority, l.lane, l.job_version, l.worker_id
     from unnest(:shards::smallint[]) as s(shard_id)
     cross join lateral (
        select * from instance_live i
        where i.shard_id = s.shard_id and i.id < :before_id and i.id >= :from_id and i.tenant_id = :tenant_id
          and (:states::text[] = '{}' or i.state = any(:states))
          and (:business_key::text is null or i.business_key = :business_key)
        order by i.id desc
        limit :limit) l)
    union all
    (select h.id, h.job_id, h.business_key, h.fire_time, h.state, h.reason, h.attempt, h.retry_count,
            h.ended_at, h.trigger_delay_ms, h.duration_ms, h.range_to, h.range_count, h.error_code, h.error_msg,
            h.idem_key, h.due_at, h.priority, h.lane, h.job_version, h.worker_id
     from instance_history h
     where h.id < :before_id and h.id >= :from_id and h.tenant_id is not distinct from :tenant_id
       and (:states::text[] = '{}' or h.state = any(:states))
       and (:business_key::text is null or h.business_key = :business_key)
     order by h.id desc
     limit :limit)
) every
order by id desc
limit :limit
