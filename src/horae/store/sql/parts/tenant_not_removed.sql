-- The tenant of the row `g` is not removed, as far as this cell knows.
not exists (
    select from reference t
    where t.kind = 'tenant' and t.id = g.tenant_id
      and (t.body ? 'purged' or t.body -> 'held' ->> 'status' = 'REMOVED'))
