-- :shard :id :version :definition :now :actor
-- Zero rows: the job is no longer at that version, or its shard is closed. Read again and decide again.
with revised as (
    update job
    set version = version + 1, definition = :definition, owner = :definition::jsonb ->> 'owner', changed_at = :now
    where shard_id = :shard and id = :id and version = :version and status <> 'REMOVED'
      and {fence}
    returning shard_id, id, tenant_id, name, version, definition)
insert into job_version (shard_id, job_id, tenant_id, name, version, definition, created_at, created_by)
select shard_id, id, tenant_id, name, version, definition, :now, :actor from revised
returning version
