-- :after_xid :after_id :until_xid :limit
-- Audit rows of all tenants in the order in which they are chained, after the last one seen.
select xid, at, shard_id, id, tenant_id, actor, action, resource, detail::text as detail from audit_log
where (xid, id) > (:after_xid, :after_id) and xid < :until_xid
order by xid, id limit :limit
