-- :from_judged :from_walk :from_shard :from_job :judged_until :walk_until :shard :job_id :has_doubt :now
-- Zero rows: another node has moved it since it was read.
update fire_audit_position p
set judged_until = :judged_until, walk_until = :walk_until, walked_shard = :shard, walked_job = :job_id,
    has_doubt = :has_doubt, moved_at = :now
where p.judged_until = :from_judged and p.walk_until is not distinct from :from_walk::timestamptz
  and p.walked_shard = :from_shard and p.walked_job = :from_job
returning p.judged_until
