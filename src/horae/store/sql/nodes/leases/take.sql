-- :incarnation :shards :now
-- Fewer rows than asked: the others have a living owner, or are closed here.
-- The epoch is read before the lock and compared after it: a shard that someone took in between has another one,
-- although that owner's heartbeat may be too new for this statement to see.
with seen as materialized (
    select s.shard_id, s.epoch from shard s
    where s.shard_id = any(:shards::smallint[]) and s.state = 'ACTIVE'
      and s.owner is distinct from :incarnation
      and not exists (select from node n where n.incarnation = s.owner and n.expires_at > :now
                        and n.seen_at < :now + interval '5 seconds')),
free as materialized (
    select s.shard_id from shard s join seen on seen.shard_id = s.shard_id
    where s.epoch = seen.epoch and s.state = 'ACTIVE'
    order by s.shard_id
    for update of s skip locked),
taken as (
    update shard s set owner = :incarnation, epoch = s.epoch + 1
    from free
    where s.shard_id = free.shard_id
    returning s.shard_id, s.epoch)
select shard_id, epoch from taken
union all
select shard_id, epoch from shard
where shard_id = any(:shards::smallint[]) and owner = :incarnation and state = 'ACTIVE'
