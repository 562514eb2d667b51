-- Audit rows of all tenants in the order in which they are sealed, after the last one seen.
select xid, at, shard_id, id, tenant_id, actor, action, resource, detail::text as detail from audit_log
where (xid, id) > ($1, $2) and xid < $3
order by xid, id limit $4
