-- What happened in a span of transactions, in some shards, to one tenant or ($5 is null) to all. None is cut in two.
-- Ends are told by history itself, the rest by the outbox; both are found by the summaries of their pages.
select xid, number, at, shard_id, tenant_id, job_id, instance_id, event, body from (
    select h.xid, null::bigint as number, h.ended_at as at, h.shard_id, h.tenant_id, h.job_id, h.id as instance_id,
           h.state as event,
           jsonb_build_object('state', h.state, 'reason', h.reason, 'error_code', h.error_code, 'key', h.business_key,
               'generation', h.generation, 'fire_time', h.fire_time, 'due_at', h.due_at, 'attempt', h.attempt,
               'retry_count', h.retry_count, 'job_version', h.job_version, 'trigger_delay_ms', h.trigger_delay_ms,
               'duration_ms', h.duration_ms, 'idem_key', h.idem_key, 'range_to', h.range_to,
               'range_count', h.range_count) as body
    from instance_history h
    where h.xid >= $1 and h.xid < $2 and h.ended_at >= $3 and h.shard_id / 64 = any($4::int[])
      and ($5::uuid is null or h.tenant_id = $5)
    union all
    select o.xid, coalesce(o.number, 0), o.at, o.shard_id, o.tenant_id, o.job_id, o.instance_id, o.event, o.body
    from outbox o
    where o.xid >= $1 and o.xid < $2 and o.at >= $3 and o.shard_id / 64 = any($4::int[])
      and ($5::uuid is null or o.tenant_id = $5)) happened
order by xid
fetch first $6 rows with ties
