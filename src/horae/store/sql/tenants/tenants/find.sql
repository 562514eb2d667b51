-- :shard :name
-- Zero rows: there is no such tenant at home here, or it was removed.
select id, name, width, zone, layout, former from tenant
where shard_id = :shard and name = :name and status <> 'REMOVED'
