-- :tenant_id :names
-- Fewer rows than names: those are not in this cell.
select id, name, version, body from reference
where tenant_id = :tenant_id and kind = 'calendar' and name = any(:names::text[])
