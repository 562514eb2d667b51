-- :channel_id :tenant_id
-- Zero rows: nobody ever looked at it.
delete from intake_position p where p.channel_id = :channel_id and p.tenant_id = :tenant_id
returning p.channel_id
