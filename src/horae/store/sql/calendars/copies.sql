-- Fewer rows than names: those are not in this cell.
select id, name, version, body from reference where tenant_id = $1 and kind = 'calendar' and name = any($2::text[])
