-- Zero rows: the tenant is not at home here.
select status from tenant where shard_id = $1 and id = $2
