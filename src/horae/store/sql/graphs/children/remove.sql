-- :shard :run_id :positions
-- Their steps are run again from the beginning, perhaps over other lists. The same transaction holds the run.
delete from graph_child t
where t.shard_id = :shard and t.run_id = :run_id and t.position = any(:positions::smallint[])
  and {fence}
