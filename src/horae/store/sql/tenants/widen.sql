-- Zero rows: someone else has widened it meanwhile, it was removed, or its shard is moving.
update tenant t
set width = $3, layout = $4, former = $5, version = t.version + 1
where t.shard_id = $1 and t.id = $2 and t.status <> 'REMOVED' and jsonb_array_length(t.former) = jsonb_array_length($5) - 1
  and not exists (select from shard s where s.shard_id = t.shard_id and s.state <> 'ACTIVE')
returning t.id
