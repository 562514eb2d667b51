-- :shards
select to_jsonb(r) as content from reference r where r.kind = 'tenant' and r.home_shard = any(:shards::smallint[])
