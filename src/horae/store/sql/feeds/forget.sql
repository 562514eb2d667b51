-- Zero rows: there is no place of it here.
delete from feed_position p where p.channel_id = $1 and p.tenant_id = $2
returning p.block
