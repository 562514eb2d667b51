-- :shard :tenant_id :ids :names :definitions :now :actor
-- Zero rows: the shard is closed. A living job of the same name raises unique_violation.
with made as (
    insert into job (shard_id, id, tenant_id, name, status, definition, created_at, changed_at)
    select :shard, g.id, :tenant_id, g.name, 'ACTIVE', g.definition, :now, :now
    from unnest(:ids::uuid[], :names::text[], :definitions::jsonb[]) as g(id, name, definition)
    where {fence}
    returning shard_id, id, tenant_id, name, version, definition, created_at)
insert into job_version (shard_id, job_id, tenant_id, name, version, definition, created_at, created_by)
select shard_id, id, tenant_id, name, version, definition, created_at, :actor from made
returning job_id
