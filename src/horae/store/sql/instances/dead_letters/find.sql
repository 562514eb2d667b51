-- :shard :instance_id :tenant_id
-- Zero rows: no instance of this tenant died under that id.
select d.* from dead_letter d where d.shard_id = :shard and d.instance_id = :instance_id and d.tenant_id = :tenant_id
