-- :first_shards :last_shards :without_tenant_ids :without_job_ids :limit
-- Zero rows: no step of an open run has changed, or another node decides about it. Locked until the transaction ends.
-- While its job is paused, a run releases no step.
with locked as materialized (
    select r.shard_id, r.id, r.tenant_id, r.job_id, r.job_version, r.fire_time, r.attempt, r.token, r.blocked,
           r.deadline_at
    from graph_run r
    where r.stale and r.ended_at is null
      and exists (select from unnest(:first_shards::int[], :last_shards::int[]) as run(first, last)
                  where r.shard_id::int between run.first and run.last)
      and r.tenant_id <> all(:without_tenant_ids::uuid[]) and r.job_id <> all(:without_job_ids::uuid[])
      and not exists (select from job pj where pj.status = 'PAUSED' and pj.tenant_id = r.tenant_id and pj.id = r.job_id)
      and not exists (select from shard s where s.shard_id = r.shard_id and s.state <> 'ACTIVE')
    order by r.id
    limit :limit
    for update of r skip locked)
select * from locked
