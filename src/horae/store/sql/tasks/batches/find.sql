-- :job_id :shards :business_keys
-- One statement, one snapshot: live rows and ledgers always agree. No row for a key: it has never been used.
-- Payload and error stay where they are: no decision asks for them.
select k.business_key as asked, l.shard_id, l.id, l.tenant_id, l.job_id, l.job_version, l.idem_key, l.fire_time,
       l.due_at, l.state, l.priority, l.lane, l.attempt, l.retry_count, l.crash_count, l.held_ms, l.business_key,
       l.generation, l.intent_version, l.token, l.deadline, l.worker_id, null::jsonb as payload,
       null::text as error_msg, null::bytea as caller_trace, k.generation as ledger_generation, k.outcome,
       k.intent_version as ledger_intent_version, k.revision, k.instance_id
from unnest(:shards::text::smallint[], :business_keys::text::text[]) as g(shard_id, business_key)
join task_key k
    on k.shard_id = any(array[g.shard_id]) and k.job_id = :job_id
    and k.business_key between g.business_key and g.business_key
left join instance_live l
    on l.shard_id = any(array[k.shard_id]) and l.job_id = :job_id
    and l.business_key between k.business_key and k.business_key
