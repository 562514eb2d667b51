-- :from_xid :until_xid :since :blocks :tenant_id :job_id :states :limit
-- The instances of a job that ended in a span of transactions, in some shards, with the ledgers of their keys as they
-- are now. No transaction is cut in two. They are found by the summaries of pages.
select h.xid, h.shard_id as shard, h.id as instance_id, h.business_key as key, h.fire_time, h.due_at,
       k.instance_id is null or k.instance_id = h.id as is_latest, k.intent_version as version
from instance_history h
left join task_key k on (k.shard_id, k.job_id, k.business_key) = (h.shard_id, h.job_id, h.business_key)
where h.xid >= :from_xid and h.xid < :until_xid and h.ended_at >= :since and h.shard_id / 64 = any(:blocks::int[])
  and h.tenant_id = :tenant_id and h.job_id = :job_id and h.state = any(:states::text[])
order by h.xid
fetch first :limit rows with ties
