-- :tenant_id
-- Null: none of the tenant's types has a width of its own.
select max((r.body -> 'definition' ->> 'width')::int) from reference r where r.tenant_id = :tenant_id and r.kind = 'job'
