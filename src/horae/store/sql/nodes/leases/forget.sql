-- :expired_before
-- Zero rows: nobody has been dead for that long, or what they held is still in their name.
delete from node n where expires_at < :expired_before and not exists (select from shard where owner = n.incarnation)
