-- :tenant_id :before_at :before_id :since :until :actor :action :resource :limit
-- A tenant's audit rows in this cell, newest first, older than the last one seen.
select at, id, actor, action, resource, detail from audit_log
where tenant_id = :tenant_id and (at, id) < (:before_at, :before_id) and at >= :since and at < :until
  and (:actor::text is null or actor = :actor) and (:action::text is null or action = :action)
  and (:resource::text is null or resource = :resource)
order by at desc, id desc limit :limit
