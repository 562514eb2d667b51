-- :shards :instance_ids
-- One row for each step whose instance has ended. No row: its end is recorded already, or its run has ended. The runs are
-- locked until the transaction ends, in the order of their ids.
with ended as materialized (
    select g.shard_id, s.run_id, s.position, g.instance_id
    from unnest(:shards::text::smallint[], :instance_ids::text::uuid[]) as g(shard_id, instance_id)
    cross join lateral (
        select t.run_id, t.position from graph_step t
        where t.shard_id = any(array[g.shard_id]) and t.instance_id between g.instance_id and g.instance_id
          and t.state = 'RELEASED'
        limit 1) s)
select r.shard_id, r.id, r.tenant_id, r.job_id, r.job_version, r.fire_time, e.position, e.instance_id,
       r.blocked or exists (select from job pj where pj.status = 'PAUSED' and pj.tenant_id = r.tenant_id
                                                 and pj.id = r.job_id) as held_back
from ended e
join graph_run r on r.shard_id = any(array[e.shard_id]) and r.id between e.run_id and e.run_id
where r.state = 'OPEN'
order by r.shard_id, r.id
for update of r
