-- :tenant_ids
-- The names of the tenants among them that this cell knows and that are not removed.
select r.id, r.body ->> 'name' as name from reference r
where r.kind = 'tenant' and r.id = any(:tenant_ids::uuid[]) and r.body -> 'held' ->> 'status' is distinct from 'REMOVED'
  and not r.body ? 'purged'
