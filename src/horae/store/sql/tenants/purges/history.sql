-- :limit :job_id :tenant_id
-- Zero rows: nothing of this job has ended here, or all is gone. A row is known by its partition and its place in it.
with gone as materialized (
    select h.tableoid, h.ctid from instance_history h
    where h.job_id = :job_id and h.tenant_id is not distinct from :tenant_id limit :limit),
ended as (
    delete from instance_history h using gone
    where h.job_id = :job_id and h.tableoid = gone.tableoid and h.ctid = gone.ctid
    returning h.shard_id, h.id, h.ended_at),
results as (
    delete from instance_result r using ended e
    where r.shard_id = e.shard_id and r.instance_id = e.id and r.ended_at = e.ended_at)
select shard_id from ended
