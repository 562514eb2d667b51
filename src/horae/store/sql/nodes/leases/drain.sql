-- :incarnation
-- Zero: nothing was held. The node stays alive for what it has in flight, and is dealt no shard any more.
with draining as (
    update node set draining = true where incarnation = :incarnation),
freed as (
    update shard set owner = null, epoch = epoch + 1 where owner = :incarnation returning shard_id)
select count(*)::int from freed
