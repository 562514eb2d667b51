-- :shard :name :allowance
-- Zero rows: there is no such tenant at home here, or its shard is moving.
update tenant t
set allowance = :allowance, version = t.version + 1
where t.shard_id = :shard and t.name = :name and t.status <> 'REMOVED'
  and not exists (select from shard s where s.shard_id = t.shard_id and s.state <> 'ACTIVE')
returning t.id, t.name, t.width, t.zone, t.layout, t.former
