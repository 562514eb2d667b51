-- Everybody's channels of a kind, as this cell's rows and copies say.
select id, tenant_id, name, version, created_at, changed_at, changed_by, body from channel
where kind = $1 and body is not null
order by id
