-- Zero rows: the shard is closed, or the tenant was widened more often than $9. A living job of the same name raises unique_violation.
with made as (
    insert into job (shard_id, id, tenant_id, name, status, definition, created_at, changed_at)
    select $1, $2, $3, $4, $5, $6, $7, $7
    where not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
      and not exists (select from widening w where w.tenant_id = $3 and w.number > $9 for key share)
    returning shard_id, id, tenant_id, name, version, definition, created_at)
insert into job_version (shard_id, job_id, tenant_id, name, version, definition, created_at, created_by)
select shard_id, id, tenant_id, name, version, definition, created_at, $8 from made
returning job_id
