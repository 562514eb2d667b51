-- :after_name :limit
-- All tenants that are at home here, by name, after the last one seen.
select t.id, t.name, t.width, t.zone, t.layout, t.former, t.allowance from tenant t
where t.name collate "C" > :after_name and t.status <> 'REMOVED'
  and not exists (select from shard s where s.shard_id = t.shard_id and s.state <> 'ACTIVE')
order by t.name collate "C" limit :limit
