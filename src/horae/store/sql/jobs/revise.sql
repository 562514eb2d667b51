-- Zero rows: the job is no longer at that version, or its shard is closed. Read again and decide again.
with revised as (
    update job
    set version = version + 1, definition = $4, changed_at = $5
    where shard_id = $1 and id = $2 and version = $3 and status <> 'REMOVED'
      and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
    returning shard_id, id, tenant_id, name, version, definition)
insert into job_version (shard_id, job_id, tenant_id, name, version, definition, created_at, created_by)
select shard_id, id, tenant_id, name, version, definition, $5, $6 from revised
returning version
