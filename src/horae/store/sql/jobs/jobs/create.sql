-- :shard :id :tenant_id :name :status :definition :now :actor :widenings
-- Zero rows: the shard is closed, or the tenant was widened more often than :widenings. A living job of the same name
-- raises unique_violation.
with made as (
    insert into job (shard_id, id, tenant_id, name, status, definition, owner, created_at, changed_at)
    select :shard, :id, :tenant_id, :name, :status, :definition, :definition::jsonb ->> 'owner', :now, :now
    where {fence}
      and not exists (select from widening w where w.tenant_id = :tenant_id and w.number > :widenings for key share)
    returning shard_id, id, tenant_id, name, version, definition, created_at)
insert into job_version (shard_id, job_id, tenant_id, name, version, definition, created_at, created_by)
select shard_id, id, tenant_id, name, version, definition, created_at, :actor from made
returning job_id
