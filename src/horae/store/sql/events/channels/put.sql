-- :shard :tenant_id :kind :name :id :body :actor :now
-- Zero rows: the shard is closed. What was removed under this name begins anew, with an id of its own.
insert into channel as c (shard_id, tenant_id, kind, name, id, body, changed_by, created_at, changed_at)
select :shard, :tenant_id, :kind, :name, :id, :body, :actor, :now, :now
where {fence}
on conflict (shard_id, tenant_id, kind, name) do update
set id = case when c.body is null then excluded.id else c.id end,
    created_at = case when c.body is null then excluded.created_at else c.created_at end,
    body = excluded.body, changed_by = excluded.changed_by, changed_at = excluded.changed_at, version = c.version + 1
returning c.id, c.tenant_id, c.name, c.version, c.created_at, c.changed_at, c.changed_by, c.paused_at, c.body
