-- The shards that are open here, and those that have ever left this cell; a shard that came back is both.
select s.shard_id, true as is_active from shard s where s.state = 'ACTIVE'
union all
select distinct m.shard_id, false from shard_move m where m.left_at is not null
