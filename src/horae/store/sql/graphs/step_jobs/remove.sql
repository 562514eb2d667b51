-- :shard :graph_id :job_ids :now
-- No row for a job: it is removed already, is no step of this graph, or the shard is closed.
update job j
set status = 'REMOVED', changed_at = :now
where j.shard_id = :shard and j.id = any(:job_ids::uuid[]) and j.status <> 'REMOVED'
  and (j.definition ->> 'step_of')::uuid = :graph_id
  and {fence}
returning j.id
