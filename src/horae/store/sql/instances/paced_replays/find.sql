-- :shard :id :tenant_id
-- Zero rows: no paced replay of this tenant has that id.
select p.* from paced_replay p where p.shard_id = :shard and p.id = :id and p.tenant_id = :tenant_id
