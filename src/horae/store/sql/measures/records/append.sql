-- :shard :now :id :tenant_id :event :actor :action :resource :detail
-- Zero rows: the shard is closed, and nothing is recorded. An API process may write events and not read them.
with recorded as (
    insert into audit_log (at, shard_id, id, tenant_id, actor, action, resource, detail)
    select :now, :shard, :id, :tenant_id, :actor, :action, :resource, :detail
    where {fence}
    returning shard_id, id),
sent as (
    insert into outbox (at, shard_id, tenant_id, event, body)
    select :now, recorded.shard_id, :tenant_id, :event, :detail
    from recorded)
select recorded.id from recorded
