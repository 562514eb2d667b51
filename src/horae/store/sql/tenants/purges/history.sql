-- :limit :job_id :tenant_id
-- Zero rows: nothing of this job has ended here, or all is gone. A row is known by its partition and its place in it.
with gone as materialized (
    select h.tableoid, h.ctid from instance_history h
    where h.job_id = :job_id and h.tenant_id is not distinct from :tenant_id limit :limit)
delete from instance_history h using gone
where h.job_id = :job_id and h.tableoid = gone.tableoid and h.ctid = gone.ctid
returning h.shard_id
