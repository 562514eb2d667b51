-- Zero: nothing was held. The node stays alive for what it has in flight, and is dealt no shard any more.
with draining as (
    update node set draining = true where incarnation = $1),
freed as (
    update shard set owner = null, epoch = epoch + 1 where owner = $1 returning shard_id)
select count(*)::int from freed
