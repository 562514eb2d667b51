-- :shard :job_id
-- Zero rows: it is gone already, it was not removed, or its shard is closed.
with gone as (
    delete from job j
    where j.shard_id = :shard and j.id = :job_id and j.status = 'REMOVED' and {fence}
    returning j.shard_id, j.id),
versions as (
    delete from job_version v using gone where v.shard_id = gone.shard_id and v.job_id = gone.id),
coverages as (
    delete from coverage c using gone where c.shard_id = gone.shard_id and c.job_id = gone.id)
delete from reference r using gone where r.kind = 'job' and r.id = gone.id
returning r.id
