-- :shard :run_id :position :now
-- Its step is run again: children that succeeded or were declined stay as they are. The same transaction holds the run.
update graph_child t
set state = 'WAITING', instance_id = null, reason = null, changed_at = :now
where t.shard_id = :shard and t.run_id = :run_id and t.position = :position and t.state in ('DEAD', 'CANCELLED')
  and {fence}
