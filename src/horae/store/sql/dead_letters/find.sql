-- Zero rows: no instance of this tenant died under that id.
select d.* from dead_letter d where d.shard_id = $1 and d.instance_id = $2 and d.tenant_id = $3
