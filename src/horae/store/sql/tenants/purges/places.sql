-- :tenant_id
-- Zero rows: none of the tenant's subscriptions was sent anything here, and none of its intakes took anything.
with delivered as (
    delete from feed_position p where p.tenant_id = :tenant_id returning p.channel_id),
taken as (
    delete from intake_position p where p.tenant_id = :tenant_id returning p.channel_id)
select channel_id from delivered union all select channel_id from taken
