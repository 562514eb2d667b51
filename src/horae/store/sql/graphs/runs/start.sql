-- :shards :ids :deadlines :undecided_flags :token :now
-- No row for a run: another node has started it, it was cancelled, or its shard is closed. A run whose instance was lost
-- and waits again goes on where it was. The deadline of the instance is only a fallback: nodes end the run before.
with claimed as (
    update instance_live l
    set state = 'RUNNING', attempt = l.attempt + 1, token = :token, worker_id = 'graph', changed_at = :now,
        deadline = g.deadline + interval '1 hour',
        trigger_delay_ms = coalesce(l.trigger_delay_ms,
                                    least(extract(epoch from :now - l.due_at) * 1000, 2147483647)::int)
    from unnest(:shards::smallint[], :ids::uuid[], :deadlines::timestamptz[], :undecided_flags::boolean[])
         as g(shard_id, id, deadline, undecided)
    where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id
      and l.state not in ('RUNNING', 'BLOCKED') and l.due_at <= :now
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning l.shard_id, l.id, l.tenant_id, l.job_id, l.job_version, l.fire_time, l.attempt, l.token, g.deadline,
              g.undecided)
insert into graph_run as r (shard_id, id, tenant_id, job_id, job_version, fire_time, attempt, token, started_at,
                            deadline_at, stale)
select shard_id, id, tenant_id, job_id, job_version, fire_time, attempt, token, :now, deadline,
       undecided or attempt > 1
       or exists (select from job pj where pj.status = 'PAUSED' and pj.tenant_id = c.tenant_id and pj.id = c.job_id)
from claimed c
on conflict (shard_id, id) do update set attempt = excluded.attempt, token = excluded.token, stale = true
where r.ended_at is null
returning r.id, r.stale
