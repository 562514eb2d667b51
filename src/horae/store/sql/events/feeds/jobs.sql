-- :shards :ids
-- Names and labels of jobs as this cell knows them: its own rows, or the copies of types at home elsewhere.
select g.id, coalesce(j.name, r.name) as name,
       coalesce(j.definition -> 'labels', r.body -> 'definition' -> 'labels', '{}') as labels
from unnest(:shards::smallint[], :ids::uuid[]) as g(shard_id, id)
left join job j on j.shard_id = g.shard_id and j.id = g.id
left join reference r on r.kind = 'job' and r.id = g.id
