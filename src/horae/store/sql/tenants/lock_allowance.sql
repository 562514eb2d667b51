-- Zero rows: there is no such tenant at home here. Two changes of one allowance come one after the other.
select t.allowance from tenant t
where t.shard_id = $1 and t.name = $2 and t.status <> 'REMOVED'
for update
