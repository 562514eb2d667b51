-- :shard :id :tenant_id
-- Zero rows: it was dealt with, or the shard is moving.
delete from parked p
where p.shard_id = :shard and p.id = :id and p.tenant_id = :tenant_id
  and {fence}
returning p.id
