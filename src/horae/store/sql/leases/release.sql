-- Zero: nothing was held.
with gone as (
    delete from node where incarnation = $1),
freed as (
    update shard set owner = null, epoch = epoch + 1 where owner = $1 returning shard_id)
select count(*)::int from freed
