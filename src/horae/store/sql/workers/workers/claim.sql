-- :tenant_id :queue :priority :lane :now :limit :token :worker_id
-- Fewer rows than asked is normal. Zero: other workers have them, or their time has moved.
-- Rows of a closed shard are passed over where they are picked: they would stand at the head of the queue for long.
with picked as materialized (
    select q.ctid from instance_live q
    where q.state in ('INIT', 'FAIL') and q.tenant_id = :tenant_id and q.queue = :queue
      and q.priority = :priority and q.lane = :lane        -- one class a call: no sort, however long the backlog
      and q.due_at <= :now
      -- Paused jobs: of those at hand only, by indexes that hold nothing else. At home a type is its own copy, too.
      and not exists (select from job pj where pj.status = 'PAUSED' and pj.tenant_id = q.tenant_id and pj.id = q.job_id)
      and not exists (select from reference pr where pr.kind = 'job' and pr.body ->> 'status' = 'PAUSED'
                        and pr.tenant_id = q.tenant_id and pr.id = q.job_id)
      and not exists (select from shard s where s.shard_id = q.shard_id and s.state <> 'ACTIVE')
    order by q.due_at
    limit :limit
    for update of q skip locked)
update instance_live l
set state = 'RUNNING', attempt = l.attempt + 1, token = :token, worker_id = :worker_id, changed_at = :now,
    deadline = :now + l.slot_ms * interval '1 ms',
    trigger_delay_ms = coalesce(l.trigger_delay_ms, least(extract(epoch from :now - l.due_at) * 1000, 2147483647)::int)
from picked
where l.ctid = picked.ctid                       -- locked above, so it cannot move; saves a descent per row
returning l.shard_id, l.id, l.job_id, l.job_version, l.idem_key, l.fire_time, l.due_at, l.attempt, l.retry_count,
          l.crash_count, l.business_key, l.deadline, l.error_msg, l.payload, l.caller_trace
