-- :shard :name
-- Zero rows: there is no such tenant at home here. Two changes of one allowance come one after the other.
select t.allowance from tenant t
where t.shard_id = :shard and t.name = :name and t.status <> 'REMOVED'
for update
