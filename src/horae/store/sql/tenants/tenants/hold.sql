-- :shard :tenant_id :to_status :from_statuses :now
-- Zero rows: the tenant is not in one of the statuses asked for, or its shard is moving.
update tenant t
set status = :to_status, version = t.version + 1,
    paused_until = case when :to_status = 'ACTIVE' then :now::timestamptz else t.paused_until end
where t.shard_id = :shard and t.id = :tenant_id and t.status = any(:from_statuses::text[])
  and not exists (select from shard s where s.shard_id = t.shard_id and s.state <> 'ACTIVE')
returning t.id
