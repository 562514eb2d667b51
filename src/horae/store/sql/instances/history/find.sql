-- :tenant_id :shard :id
-- Zero rows: no instance of this tenant has that id, or its history has expired. Should a row be met on its way into
-- history, the live one is returned: one statement, one snapshot, so it is in one of them.
select l.id, l.job_id, l.business_key, l.fire_time, l.state, null::text as reason, l.attempt, l.retry_count,
       l.changed_at, l.trigger_delay_ms, null::int as duration_ms, null::timestamptz as range_to,
       null::int as range_count, null::text as error_code, l.error_msg, l.idem_key,
       l.due_at, l.priority, l.lane, l.job_version, l.worker_id, l.payload, l.attempts, l.deadline, l.held_ms,
       l.replay_of, null::text as node, l.progress
from instance_live l
where l.shard_id = :shard and l.id = :id and l.tenant_id = :tenant_id
union all
(select h.id, h.job_id, h.business_key, h.fire_time, h.state, h.reason, h.attempt, h.retry_count,
        h.ended_at, h.trigger_delay_ms, h.duration_ms, h.range_to, h.range_count, h.error_code, h.error_msg, h.idem_key,
        h.due_at, h.priority, h.lane, h.job_version, h.worker_id, h.payload, h.attempts, null, h.held_ms, null, h.node,
        null
 from instance_history h
 where h.id = :id and h.tenant_id = :tenant_id
 limit 1)
