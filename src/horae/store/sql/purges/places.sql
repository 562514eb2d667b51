-- Zero rows: none of the tenant's subscriptions is told anything here.
delete from feed_position p where p.tenant_id = $1
returning p.block
