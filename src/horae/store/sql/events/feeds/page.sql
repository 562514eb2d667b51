-- :from_xid :until_xid :since :blocks :tenant_id :limit
-- What happened in a span of transactions, in some shards, to one tenant or (:tenant_id is null) to all. None is cut in
-- two.
-- Ends are written by history itself, the rest by the outbox; both are found by the summaries of their pages.
select xid, number, at, shard_id, tenant_id, job_id, instance_id, event, body from (
    select h.xid, null::bigint as number, h.ended_at as at, h.shard_id, h.tenant_id, h.job_id, h.id as instance_id,
           h.state as event,
           jsonb_build_object('state', h.state, 'reason', h.reason, 'error_code', h.error_code, 'key', h.business_key,
               'generation', h.generation, 'fire_time', h.fire_time, 'due_at', h.due_at, 'attempt', h.attempt,
               'retry_count', h.retry_count, 'job_version', h.job_version, 'trigger_delay_ms', h.trigger_delay_ms,
               'duration_ms', h.duration_ms, 'idem_key', h.idem_key, 'range_to', h.range_to,
               'range_count', h.range_count) as body
    from instance_history h
    where h.xid >= :from_xid and h.xid < :until_xid and h.ended_at >= :since and h.shard_id / 64 = any(:blocks::int[])
      and (:tenant_id::uuid is null or h.tenant_id is not distinct from :tenant_id)
    union all
    select o.xid, coalesce(o.number, 0), o.at, o.shard_id, o.tenant_id, o.job_id, o.instance_id, o.event, o.body
    from outbox o
    where o.xid >= :from_xid and o.xid < :until_xid and o.at >= :since and o.shard_id / 64 = any(:blocks::int[])
      and (:tenant_id::uuid is null or o.tenant_id = :tenant_id)) happened
order by xid
fetch first :limit rows with ties
