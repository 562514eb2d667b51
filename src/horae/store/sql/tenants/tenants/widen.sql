-- :shard :tenant_id :width :layout :former
-- Zero rows: someone else has widened it meanwhile, it was removed, or its shard is moving.
update tenant t
set width = :width, layout = :layout, former = :former, version = t.version + 1
where t.shard_id = :shard and t.id = :tenant_id and t.status <> 'REMOVED'
  and jsonb_array_length(t.former) = jsonb_array_length(:former) - 1
  and not exists (select from shard s where s.shard_id = t.shard_id and s.state <> 'ACTIVE')
returning t.id
