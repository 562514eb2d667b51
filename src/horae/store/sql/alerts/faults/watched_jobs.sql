-- :shards :ids
-- What the rules have to know of jobs, as this cell knows it: its own rows, or the copies of types at home elsewhere.
select k.id, k.name, k.status, coalesce(k.definition -> 'labels', '{}') as labels, k.definition ->> 'owner' as owner,
       coalesce(k.definition -> 'contacts', '[]') as contacts, k.definition -> 'late_after' as late_after,
       k.definition -> 'fail_after' as fail_after, k.definition ->> 'runbook' as runbook
from (
    select g.id, coalesce(j.name, r.name) as name, coalesce(j.status, r.body ->> 'status') as status,
           coalesce(j.definition, r.body -> 'definition') as definition
    from unnest(:shards::smallint[], :ids::uuid[]) as g(shard_id, id)
    left join job j on j.shard_id = g.shard_id and j.id = g.id
    left join reference r on r.kind = 'job' and r.id = g.id) k
where k.name is not null
