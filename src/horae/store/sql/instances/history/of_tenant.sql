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
          and not exists (select from shard c where c.shard_id = i.shard_id and c.state <> 'ACTIVE')  -- it has moved
          and (:states::text[] = '{}' or i.state = any(:states))
          and (:business_key::text is null or i.business_key = :business_key)
        order by i.id desc
        limit :limit) l)
    union all
    (select {listed_history_columns}
     from instance_history h
     where h.id < :before_id and h.id >= :from_id and h.tenant_id is not distinct from :tenant_id
       and (:states::text[] = '{}' or h.state = any(:states))
       and (:business_key::text is null or h.business_key = :business_key)
     order by h.id desc
     limit :limit)
) every
order by id desc
limit :limit
