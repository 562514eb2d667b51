-- :tenant_id
-- Null: this cell has heard of no widening of this tenant.
select number from widening where tenant_id = :tenant_id
