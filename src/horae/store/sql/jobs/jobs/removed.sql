-- :shards :ids
-- A type is known by its copy, any other job by its own row: its instances lie in its shard.
select r.id from reference r where r.kind = 'job' and r.id = any(:ids::uuid[]) and r.body ->> 'status' = 'REMOVED'
union all
select j.id from unnest(:shards::smallint[], :ids::uuid[]) as w(shard_id, id)
join job j on j.shard_id = any(array[w.shard_id]) and j.id between w.id and w.id
where j.status = 'REMOVED'
