-- :incarnation
-- Zero: nothing was held.
with gone as (
    delete from node where incarnation = :incarnation),
freed as (
    update shard set owner = null, epoch = epoch + 1 where owner = :incarnation returning shard_id)
select count(*)::int from freed
