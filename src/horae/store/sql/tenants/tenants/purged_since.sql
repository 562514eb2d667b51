-- :since
-- Tenants at home here that were purged since a time, and when.
select t.id, t.purged_at from tenant t where t.purged_at >= :since
