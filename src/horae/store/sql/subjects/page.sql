-- A page of a job's subjects in this cell in the order of their keys, after the last one seen: those from $6 up to $7.
select t.key, t.added_at, t.started_at, t.finished_at, t.last_success_at, t.batch_no, t.remark, t.instance_id
from unnest($1::smallint[]) as s(shard_id)
cross join lateral (
    select u.* from subject u
    where u.shard_id = s.shard_id and u.job_id = $2 and u.tenant_id = $3 and u.key > $4 and u.key >= $6 and u.key < $7
    order by u.key
    limit $5) t
order by t.key
limit $5
