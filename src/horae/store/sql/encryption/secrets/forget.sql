-- :before :at_home
-- Zero rows: nothing was removed before :before; :at_home says whether of what is at home here, or of the copies.
delete from secret s
where s.sealed is null and s.changed_at < :before
  and :at_home = not exists (select from shard h where h.shard_id = s.shard_id and h.state <> 'ACTIVE')
returning s.name
