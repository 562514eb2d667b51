-- The tenants to which anything happened in a span of transactions, in some shards: found by the summaries of pages.
select distinct tenant_id from (
    select h.tenant_id from instance_history h
    where h.xid >= $1 and h.xid < $2 and h.ended_at >= $3 and h.shard_id / 64 = any($4::int[])
    union all
    select o.tenant_id from outbox o
    where o.xid >= $1 and o.xid < $2 and o.at >= $3 and o.shard_id / 64 = any($4::int[])) happened
