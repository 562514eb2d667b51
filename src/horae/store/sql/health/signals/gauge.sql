-- :minute :writer :now :limit
-- Zero rows: another node writes for this cell. What waits is counted class by class, no further than the limit
-- (:limit); queues one by one, because their index begins with the tenant. Nobody's row says that it was counted at
-- all.
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
mine as materialized (
    select from shard s
    where s.owner = :writer and s.shard_id = (select min(f.shard_id) from shard f where f.state = 'ACTIVE')),
class as (
    select p.priority::smallint, n.lane::smallint
    from generate_series(0, 2) as p(priority) cross join generate_series(0, 2) as n(lane)),
counted as (
    select w.tenant_id, c.priority, c.lane, w.failing, w.due
    from mine, class c
    cross join lateral (
        select l.tenant_id, count(*) filter (where l.state = 'FAIL') as failing,
               count(*) filter (where l.due_at <= :now) as due
        from (select tenant_id, state, due_at from instance_live i
              where i.state in ('INIT', 'FAIL') and i.queue is null and i.priority = c.priority and i.lane = c.lane
                and i.due_at <= case when c.lane = 0 then :now::timestamptz else :now + interval '10 minutes' end
              order by i.due_at limit :limit) l
        group by l.tenant_id) w
    union all
    select q.tenant_id, c.priority, c.lane, w.failing, w.due
    from mine, queues q, class c
    cross join lateral (
        select count(*) filter (where l.state = 'FAIL') as failing, count(*) filter (where l.due_at <= :now) as due
        from (select state, due_at from instance_live i
              where i.state in ('INIT', 'FAIL') and i.tenant_id = q.tenant_id and i.queue = q.queue
                and i.priority = c.priority and i.lane = c.lane
                and i.due_at <= case when c.lane = 0 then :now::timestamptz else :now + interval '10 minutes' end
              order by i.due_at limit :limit) l) w
    union all
    select '00000000-0000-0000-0000-000000000000', 0::smallint, 0::smallint, 0, 0 from mine)
insert into signal as s (minute, writer, tenant_id, priority, lane, retry_backlog, backlog)
select :minute, :writer, tenant_id, priority, lane, sum(failing), sum(due)
from counted
group by tenant_id, priority, lane
having sum(due) > 0 or sum(failing) > 0 or tenant_id = '00000000-0000-0000-0000-000000000000'
on conflict (minute, tenant_id, priority, lane, writer) do update
set retry_backlog = excluded.retry_backlog, backlog = excluded.backlog
