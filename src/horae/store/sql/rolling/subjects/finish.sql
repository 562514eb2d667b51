-- :job_id :first_shard :last_shard :limit :now
-- Zero rows: nothing that was created for this set has ended since the last look. An end that left no history (it was
-- purged) counts as now. Who began and who ended may go by clocks that differ: an end may bear a time before its
-- beginning.
with over as materialized (
    select u.ctid, u.shard_id, u.instance_id, u.started_at from subject u
    where u.job_id = :job_id and u.instance_id is not null and u.shard_id::int between :first_shard and :last_shard
      and not exists (select from instance_live l where l.shard_id = any(array[u.shard_id])
                                                    and l.id between u.instance_id and u.instance_id)
    limit :limit
    for update of u skip locked),
ends as (
    select o.ctid, o.shard_id, coalesce(h.ended_at, :now::timestamptz) as ended_at, h.state,
           left(case when h.state = 'SUCCESS' then 'SUCCESS'
                     else concat_ws(' ', coalesce(h.state, 'LOST'), h.reason, h.error_code, h.error_msg) end, 255)
           as remark
    from over o
    left join lateral (
        select h.ended_at, h.state, h.reason, h.error_code, h.error_msg from instance_history h
        where h.id = o.instance_id and h.ended_at >= o.started_at - interval '1 hour'
        limit 1) h on true)
update subject u
set instance_id = null, finished_at = t.ended_at, aged_at = t.ended_at, updated_at = :now, remark = t.remark,
    last_success_at = case when t.state = 'SUCCESS' then t.ended_at else u.last_success_at end
from ends t
where u.ctid = t.ctid
  and not exists (select from shard s where s.shard_id = t.shard_id and s.state <> 'ACTIVE')
returning u.key
