-- Zero rows: the tenant is not in one of the statuses asked for, or its shard is moving.
update tenant t
set status = $3, version = t.version + 1, paused_until = case when $3 = 'ACTIVE' then $5::timestamptz else t.paused_until end
where t.shard_id = $1 and t.id = $2 and t.status = any($4::text[])
  and not exists (select from shard s where s.shard_id = t.shard_id and s.state <> 'ACTIVE')
returning t.id
