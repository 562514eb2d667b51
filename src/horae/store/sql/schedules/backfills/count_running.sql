-- :tenant_id :limit
-- How many of a tenant's backfills run in this cell, counted no further than the limit.
select count(*)::int from (
    select from backfill b where b.status = 'RUNNING' and b.tenant_id = :tenant_id limit :limit) r
