-- :job_id :aged_until :first_shard :last_shard :limit :batch_no :now
-- Zero rows: none is eligible, or others are taking them. Fewer than asked is normal. One whose predecessor under the
-- same key still lives waits: a key was taken out of the set and put in again.
with picked as materialized (
    select u.ctid, u.shard_id from subject u
    where u.job_id = :job_id and u.instance_id is null and u.aged_at <= :aged_until
      and u.shard_id::int between :first_shard and :last_shard
      and not exists (select from instance_live l
                      where l.shard_id = any(array[u.shard_id])
                        and l.job_id = any(array[case when u.shard_id is not null then :job_id::uuid end])
                                                    and l.business_key between u.key and u.key)
    order by u.aged_at
    limit :limit
    for update of u skip locked)
update subject u
set batch_no = :batch_no, started_at = :now, updated_at = :now, finished_at = null, remark = null
from picked
where u.ctid = picked.ctid                       -- locked above, so it cannot move
  and not exists (select from shard s where s.shard_id = picked.shard_id and s.state <> 'ACTIVE')
returning u.shard_id, u.key
