-- :after_id :shards :without_tenant_ids :limit
-- Oldest first, behind an id; zero rows: nobody asked for any, or all behind it are done or stand still.
select b.* from backfill b
where b.status = 'RUNNING' and b.id > :after_id and b.shard_id = any(:shards::smallint[])
  and b.tenant_id <> all(:without_tenant_ids::uuid[])
  and not exists (select from job pj where pj.status = 'PAUSED' and pj.tenant_id = b.tenant_id and pj.id = b.job_id)
  and not exists (select from shard s where s.shard_id = b.shard_id and s.state <> 'ACTIVE')
order by b.id
limit :limit
