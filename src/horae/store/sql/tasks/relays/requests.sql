-- :first_shard :last_shard :from_xid :until_xid :limit :without_shards
-- Tasks that attempts asked for in a run of shards and that were not relayed, transaction by transaction; none is cut
-- in two. What was relayed before fills no page: its shard's place lies behind it.
select o.xid, o.shard_id, o.tenant_id, o.job_id, o.instance_id, o.at, o.body
from outbox o
left join relay r on r.shard_id = o.shard_id
where o.event = 'COMPENSATION_ASKED' and o.xid >= :from_xid and o.xid < :until_xid
  and o.shard_id between :first_shard and :last_shard
  and o.shard_id <> all(:without_shards::smallint[]) and o.xid >= coalesce(r.xid, 0)
order by o.xid
fetch first :limit rows with ties
