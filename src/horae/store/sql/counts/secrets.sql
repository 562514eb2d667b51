-- How many secrets a tenant has at home here, and whether one of that name is among them.
select count(*), coalesce(bool_or(name = $3), false) from secret
where shard_id = $1 and tenant_id = $2 and sealed is not null
