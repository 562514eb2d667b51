-- :shard :job_id :tenant_id
-- Zero rows: nobody has counted this set yet.
select c.at, c.subjects, c.fresh, c.occupied, c.met, c.estimate_at, c.ages from coverage c
where c.shard_id = :shard and c.job_id = :job_id and c.tenant_id = :tenant_id
