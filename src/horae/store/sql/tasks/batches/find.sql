-- :job_id :shards :business_keys
-- One statement, one snapshot: live rows and ledgers always agree. No row for a key: it has never been used.
-- Payload and error stay where they are: no decision asks for them. `limit 1` changes no result, since both indexes are
-- unique. It keeps the order of the joins: before the tables are analyzed, PostgreSQL would read all keys of the job.
select k.business_key as asked, l.shard_id, l.id, l.tenant_id, l.job_id, l.job_version, l.idem_key, l.fire_time,
       l.due_at, l.state, l.priority, l.lane, l.attempt, l.retry_count, l.crash_count, l.held_ms, l.business_key,
       l.generation, l.intent_version, l.token, l.deadline, l.worker_id, null::jsonb as payload,
       null::text as error_msg, null::bytea as caller_trace, k.generation as ledger_generation, k.outcome,
       k.intent_version as ledger_intent_version, k.revision, k.instance_id
from unnest(:shards::text::smallint[], :business_keys::text::text[]) as g(shard_id, business_key)
cross join lateral (
    select t.shard_id, t.business_key, t.generation, t.outcome, t.intent_version, t.revision, t.instance_id
    from task_key t
    where t.shard_id = g.shard_id and t.job_id = :job_id and t.business_key = g.business_key
    limit 1) k
left join lateral (
    select i.* from instance_live i
    where i.shard_id = k.shard_id and i.job_id = :job_id and i.business_key = k.business_key
    limit 1) l on true
