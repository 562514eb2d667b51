-- :shard :graph_id
-- One row: whether a run of the graph lives, waits to begin, or may be replayed. Its version may have any former step.
select exists (select from instance_live l where l.shard_id = :shard and l.job_id = :graph_id)
    or exists (select from dead_letter d where d.job_id = :graph_id)
