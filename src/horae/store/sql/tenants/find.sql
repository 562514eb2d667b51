-- Zero rows: there is no such tenant at home here, or it was removed.
select id, name, width, zone, layout, former from tenant where shard_id = $1 and name = $2 and status <> 'REMOVED'
