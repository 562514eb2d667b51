-- Zero rows: none of the tenant's subscriptions is told anything here, and none of its intakes took anything.
with told as (
    delete from feed_position p where p.tenant_id = $1 returning p.channel_id),
taken as (
    delete from intake_position p where p.tenant_id = $1 returning p.channel_id)
select channel_id from told union all select channel_id from taken
