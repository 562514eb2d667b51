-- :now :shard :id :tenant_id :actor :action :resource :detail
insert into audit_log (at, shard_id, id, tenant_id, actor, action, resource, detail)
values (:now, :shard, :id, :tenant_id, :actor, :action, :resource, :detail)
