-- :channel_id :tenant_id
-- Zero rows: there is no place of it here.
delete from feed_position p where p.channel_id = :channel_id and p.tenant_id = :tenant_id
returning p.block
