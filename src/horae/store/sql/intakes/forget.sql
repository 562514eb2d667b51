-- Zero rows: nobody ever looked at it.
delete from intake_position p where p.channel_id = $1 and p.tenant_id = $2
returning p.channel_id
