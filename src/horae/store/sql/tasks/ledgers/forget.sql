-- :shard :job_id :tenant_id :after_key :before :dead_before :limit
-- Always a row: how many keys were read behind one, how many of them were deleted, and the last one. A key whose run has
-- not ended stays, and one that is dead stays as long as its dead letter may: it may be replayed.
with page as materialized (
    select k.business_key from task_key k
    where k.shard_id = :shard and k.job_id = :job_id and k.tenant_id = :tenant_id and k.business_key > :after_key
    order by k.business_key limit :limit),
gone as (
    delete from task_key k using page p
    where k.shard_id = :shard and k.job_id = :job_id and k.business_key = p.business_key and k.outcome is not null
      and k.updated_at < case when k.outcome = 'DEAD' then :dead_before::timestamptz else :before::timestamptz end
      and not exists (select from instance_live l where l.shard_id = :shard and l.id = k.instance_id)
      and {fence}
    returning k.business_key)
select (select count(*) from page)::int as seen, (select count(*) from gone)::int as gone,
       (select max(p.business_key) from page p) as last
