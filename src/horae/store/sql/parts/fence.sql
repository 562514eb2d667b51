-- The shard is active in this cell. The first write of a transaction carries this condition.
not exists (select from shard where shard_id = :shard and state <> 'ACTIVE')
