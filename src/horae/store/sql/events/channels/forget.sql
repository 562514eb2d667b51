-- :before :at_home
-- Zero rows: nothing was removed before :before; :at_home says whether of what is at home here, or of the copies.
delete from channel c
where c.body is null and c.changed_at < :before
  and :at_home = not exists (select from shard h where h.shard_id = c.shard_id and h.state <> 'ACTIVE')
returning c.name
