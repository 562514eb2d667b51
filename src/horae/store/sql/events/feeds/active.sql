-- :from_xid :until_xid :since :blocks
-- The tenants to which anything happened in a span of transactions, in some shards: found by the summaries of pages.
select distinct tenant_id from (
    select h.tenant_id from instance_history h
    where h.xid >= :from_xid and h.xid < :until_xid and h.ended_at >= :since and h.shard_id / 64 = any(:blocks::int[])
    union all
    select o.tenant_id from outbox o
    where o.xid >= :from_xid and o.xid < :until_xid and o.at >= :since
      and o.shard_id / 64 = any(:blocks::int[])) happened
