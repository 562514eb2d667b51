-- :now :before :limit
-- For each job the fires that are due since before :before and had no attempt: instances, and cursors that nobody moved.
-- Of each class only the oldest are looked at.
with recursive queues as (
    (select q.tenant_id, q.queue from instance_live q
     where q.state in ('INIT', 'FAIL') and q.queue is not null
     order by q.tenant_id, q.queue limit 1)
    union all
    select n.tenant_id, n.queue
    from queues before
    cross join lateral (
        select q.tenant_id, q.queue from instance_live q
        where q.state in ('INIT', 'FAIL') and q.queue is not null
          and (q.tenant_id, q.queue) > (before.tenant_id, before.queue)
        order by q.tenant_id, q.queue limit 1) n),
class as (
    select p.priority::smallint, n.lane::smallint
    from generate_series(0, 2) as p(priority) cross join generate_series(0, 1) as n(lane)),
overdue as (
    select w.tenant_id, w.job_id, w.fire_time, w.attempt
    from class c
    cross join lateral (
        select i.tenant_id, i.job_id, i.fire_time, i.attempt from instance_live i
        where i.state in ('INIT', 'FAIL') and i.queue is null and i.priority = c.priority and i.lane = c.lane
          and i.due_at <= :before
        order by i.due_at limit :limit) w
    union all
    select w.tenant_id, w.job_id, w.fire_time, w.attempt
    from queues q
    cross join class c
    cross join lateral (
        select i.tenant_id, i.job_id, i.fire_time, i.attempt from instance_live i
        where i.state in ('INIT', 'FAIL') and i.tenant_id = q.tenant_id and i.queue = q.queue
          and i.priority = c.priority and i.lane = c.lane and i.due_at <= :before
        order by i.due_at limit :limit) w
    union all
    select w.tenant_id, w.job_id, w.next_fire_at, 0
    from generate_series(0, 2) as p(priority)
    cross join lateral (
        select k.tenant_id, k.job_id, k.next_fire_at from job_cursor k
        where k.priority = p.priority::smallint and k.next_fire_at <= :before
        order by k.next_fire_at limit :limit) w)
select o.tenant_id, o.job_id, count(*)::int as fires,
       extract(epoch from :now::timestamptz - min(o.fire_time))::float8 as late_s
from overdue o
where o.attempt = 0
  and not exists (select from reference t where t.kind = 'tenant' and t.id = o.tenant_id and t.body ? 'held')
group by o.tenant_id, o.job_id
