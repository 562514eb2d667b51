-- :shard :ids :versions :definitions :now :actor
-- No row for a step job: it is no longer at that version, it was removed, or the shard is closed. Read again.
with revised as (
    update job j
    set version = j.version + 1, definition = g.definition, changed_at = :now
    from unnest(:ids::uuid[], :versions::int[], :definitions::jsonb[]) as g(id, version, definition)
    where j.shard_id = :shard and j.id = g.id and j.version = g.version and j.status <> 'REMOVED'
      and {fence}
    returning j.shard_id, j.id, j.tenant_id, j.name, j.version, j.definition)
insert into job_version (shard_id, job_id, tenant_id, name, version, definition, created_at, created_by)
select shard_id, id, tenant_id, name, version, definition, :now, :actor from revised
returning job_id
