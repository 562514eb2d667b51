-- :tenant_id
-- Zero rows: no alert and no message of the tenant is left here.
with messages as (
    delete from alert_message m where m.tenant_id = :tenant_id returning m.alert_id),
opened as (
    delete from alert a where a.tenant_id = :tenant_id returning a.id)
select alert_id from messages union all select id from opened
