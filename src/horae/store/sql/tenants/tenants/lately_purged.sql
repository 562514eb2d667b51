-- :since :until
-- Tenants at home here that were purged in a span of time.
select t.id, t.name, t.width, t.zone, t.layout, t.former from tenant t
where t.purged_at >= :since and t.purged_at < :until
  and not exists (select from shard s where s.shard_id = t.shard_id and s.state <> 'ACTIVE')
