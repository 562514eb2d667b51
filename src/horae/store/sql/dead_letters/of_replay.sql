-- Zero rows: that instance was no replay.
select d.instance_id from dead_letter d where d.job_id = $2 and d.tenant_id = $1 and d.replay_id = $3 limit 1
