-- :before :at_home
-- Zero rows: none lost its last role before :before; :at_home says whether of those at home here, or of the copies.
delete from role_binding b
where cardinality(b.roles) = 0 and b.changed_at < :before
  and :at_home = not exists (select from shard h where h.shard_id = b.shard_id and h.state <> 'ACTIVE')
returning b.principal
