-- :after_id :first_shards :last_shards :without_tenant_ids :limit
-- Oldest first, behind an id; zero rows: nobody asked for any, or all behind it are done or stand still.
select b.* from backfill b
where b.status = 'RUNNING' and b.id > :after_id
  and exists (select from unnest(:first_shards::int[], :last_shards::int[]) as run(first, last)
              where b.shard_id::int between run.first and run.last)
  and b.tenant_id <> all(:without_tenant_ids::uuid[])
  and not exists (select from job pj where pj.status = 'PAUSED' and pj.tenant_id = b.tenant_id and pj.id = b.job_id)
  and not exists (select from shard s where s.shard_id = b.shard_id and s.state <> 'ACTIVE')
order by b.id
limit :limit
