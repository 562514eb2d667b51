-- :tenant_id :job_id :replay_id
-- Zero rows: that instance was no replay.
select d.instance_id from dead_letter d
where d.job_id = :job_id and d.tenant_id = :tenant_id and d.replay_id = :replay_id limit 1
