-- :shards :ids :now :token :owner :holds_ms
-- Fewer rows than asked is normal: someone else has them, their time has moved, their job is paused, a shard is closed.
with picked as materialized (
    select l.shard_id, l.ctid, wanted.held_ms
    from unnest(:shards::text::smallint[], :ids::text::uuid[], :holds_ms::text::int[]) as wanted(shard_id, id, held_ms)
    join instance_live l on l.shard_id = any(array[wanted.shard_id]) and l.id between wanted.id and wanted.id
    where l.state not in ('RUNNING', 'BLOCKED') and l.due_at <= :now
      -- Paused jobs: of those at hand only, by indexes that hold nothing else. At home a type is its own copy, too.
      and not exists (select from job pj where pj.status = 'PAUSED' and pj.tenant_id = l.tenant_id and pj.id = l.job_id)
      and not exists (select from reference pr where pr.kind = 'job' and pr.body ->> 'status' = 'PAUSED'
                        and pr.tenant_id = l.tenant_id and pr.id = l.job_id)
    for update of l skip locked)
update instance_live l
set state = 'RUNNING', attempt = l.attempt + 1, token = :token, owner = :owner, changed_at = :now,
    deadline = :now + l.slot_ms * interval '1 ms',
    held_ms = least(l.held_ms::bigint + picked.held_ms, 2147483647)
from picked
where l.ctid = picked.ctid                       -- locked above, so it cannot move; saves a descent per row
  and not exists (select from shard s where s.shard_id = picked.shard_id and s.state <> 'ACTIVE')
returning l.*
