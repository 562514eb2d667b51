-- :shard :tenant_id :day :revision
select evidence from certificate
where shard_id = :shard and tenant_id = :tenant_id and day = :day and revision = :revision
