-- Zero rows: nobody has counted this set yet.
select c.at, c.subjects, c.fresh, c.occupied, c.met, c.estimate_at, c.ages from coverage c
where c.shard_id = $1 and c.job_id = $2 and c.tenant_id = $3
