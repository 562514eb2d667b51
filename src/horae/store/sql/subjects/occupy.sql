-- Zero rows: none is eligible, or others are taking them. Fewer than asked is normal. One whose predecessor under the
-- same key still lives waits: a key was taken out of the set and put in again.
with picked as materialized (
    select u.ctid, u.shard_id from subject u
    where u.job_id = $1 and u.instance_id is null and u.aged_at <= $2 and u.shard_id::int between $3 and $4
      and not exists (select from instance_live l where l.shard_id = any(array[u.shard_id]) and l.job_id = any(array[$1])
                                                    and l.business_key between u.key and u.key)
    order by u.aged_at
    limit $5
    for update of u skip locked)
update subject u
set batch_no = $6, started_at = $7, finished_at = null, remark = null
from picked
where u.ctid = picked.ctid                       -- locked above, so it cannot move
  and not exists (select from shard s where s.shard_id = picked.shard_id and s.state <> 'ACTIVE')
returning u.shard_id, u.key
