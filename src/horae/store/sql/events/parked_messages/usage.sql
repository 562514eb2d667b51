-- :tenant_id
-- Always one row: how many messages of a tenant are parked, and how many bytes they take.
select count(*), coalesce(sum(pg_column_size(body)), 0)::bigint from parked where tenant_id = :tenant_id
