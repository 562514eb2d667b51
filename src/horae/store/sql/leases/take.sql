-- Fewer rows than asked: the others have a living owner, or are closed here.
with free as materialized (
    select s.shard_id from shard s
    where s.shard_id = any($2::smallint[]) and s.state = 'ACTIVE'
      and s.owner is distinct from $1
      and not exists (select from node n where n.incarnation = s.owner and n.expires_at > $3)
    order by s.shard_id
    for update skip locked),
taken as (
    update shard s set owner = $1, epoch = s.epoch + 1
    from free
    where s.shard_id = free.shard_id
    returning s.shard_id, s.epoch)
select shard_id, epoch from taken
union all
select shard_id, epoch from shard where shard_id = any($2::smallint[]) and owner = $1 and state = 'ACTIVE'
