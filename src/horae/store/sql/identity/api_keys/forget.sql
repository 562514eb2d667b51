-- :before :at_home
-- Zero rows: none was revoked before :before; :at_home says whether of those at home here, or of the copies.
delete from api_key k
where k.revoked_at is not null and k.changed_at < :before
  and :at_home = not exists (select from shard h where h.shard_id = k.shard_id and h.state <> 'ACTIVE')
returning k.id
