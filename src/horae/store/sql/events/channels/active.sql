-- :kind
-- Everybody's channels of a kind that are not paused, as this cell's rows and copies say.
select id, tenant_id, name, version, created_at, changed_at, changed_by, paused_at, body from channel
where kind = :kind and body is not null and paused_at is null
order by id
