-- Tenants at home here whose rows are still to be purged.
select t.id, t.name, t.width, t.zone, t.layout, t.former from tenant t
where t.status = 'REMOVED' and t.purged_at is null
  and not exists (select from shard s where s.shard_id = t.shard_id and s.state <> 'ACTIVE')
