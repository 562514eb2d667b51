-- :tenant_id
-- Zero rows: this cell's copy says that it goes on.
select case when body ? 'purged' then 'REMOVED' else body -> 'held' ->> 'status' end from reference
where kind = 'tenant' and id = :tenant_id and (body -> 'held' ->> 'status' in ('PAUSED', 'REMOVED') or body ? 'purged')
