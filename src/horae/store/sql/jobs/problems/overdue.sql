-- :tenant_id :shards :before :limit
-- The jobs of waiting instances that are due since before :before: of each class and queue the oldest are read, so many
-- of them, and those of the tenant are counted. Zero rows: nothing of the tenant is among them.
with recursive queues as (
    (select q.queue from instance_live q
     where q.tenant_id = :tenant_id and q.state in ('INIT', 'FAIL') and q.queue is not null
     order by q.queue limit 1)
    union all
    select n.queue
    from queues before
    cross join lateral (
        select q.queue from instance_live q
        where q.tenant_id = :tenant_id and q.state in ('INIT', 'FAIL') and q.queue > before.queue
        order by q.queue limit 1) n),
class as (
    select p.priority::smallint, n.lane::smallint
    from generate_series(0, 2) as p(priority) cross join generate_series(0, 1) as n(lane)),
overdue as (
    select w.tenant_id, w.job_id, w.due_at, w.state
    from class c
    cross join lateral (
        select l.tenant_id, l.job_id, l.due_at, l.state from instance_live l
        where l.state in ('INIT', 'FAIL') and l.queue is null and l.priority = c.priority and l.lane = c.lane
          and l.due_at <= :before and l.shard_id::int = any(:shards::int[])
        order by l.due_at limit :limit) w
    union all
    select :tenant_id, w.job_id, w.due_at, w.state
    from queues q
    cross join class c
    cross join lateral (
        select i.job_id, i.due_at, i.state from instance_live i
        where i.state in ('INIT', 'FAIL') and i.tenant_id = :tenant_id and i.queue = q.queue
          and i.priority = c.priority and i.lane = c.lane and i.due_at <= :before
        order by i.due_at limit :limit) w)
select o.job_id, count(*)::int as overdue, (count(*) filter (where o.state = 'FAIL'))::int as retries,
       min(o.due_at) as since
from overdue o
where o.tenant_id = :tenant_id
group by o.job_id
