-- :shard :id :tenant_id :name :body :days :now
-- Zero rows: the shard is closed.
insert into calendar as c (shard_id, id, tenant_id, name, body, days, created_at, changed_at)
select :shard, :id, :tenant_id, :name, :body, :days, :now, :now
where {fence}
on conflict (shard_id, tenant_id, name) do update
set body = excluded.body, days = excluded.days, version = c.version + 1, changed_at = excluded.changed_at
returning id
