-- The dead letter `d` that the ended instance `e` was a replay of.
e.replay_of is not null
and d.shard_id = any(array[e.shard_id]) and d.instance_id between e.replay_of and e.replay_of
and d.replay_status = 'REPLAYING'
