-- :first_shard :last_shard :from_tenant_id :from_queue :from_priority :from_lane :after_due_at :after_id :now :class_limit :limit
-- Some classes of some queues, from one on, each with a page of what is due; a class that has nothing due has one row
-- without an id. The recursion steps from class to class in the index, whatever waits in them for a later time.
with recursive class as (
    (select q.tenant_id, q.queue, q.priority, q.lane from instance_live q
     where q.state in ('INIT', 'FAIL') and q.queue is not null
       and (q.tenant_id, q.queue, q.priority, q.lane) >= (:from_tenant_id::uuid, :from_queue::text,
                                                          :from_priority::smallint, :from_lane::smallint)
     order by q.tenant_id, q.queue, q.priority, q.lane limit 1)
    union all
    select n.tenant_id, n.queue, n.priority, n.lane
    from class c
    join lateral (
        select q.tenant_id, q.queue, q.priority, q.lane from instance_live q
        where q.state in ('INIT', 'FAIL') and q.queue is not null
          and (q.tenant_id, q.queue, q.priority, q.lane) > (c.tenant_id, c.queue, c.priority, c.lane)
        order by q.tenant_id, q.queue, q.priority, q.lane limit 1) n on true)
select c.tenant_id as of_tenant, c.queue, c.priority as of_priority, c.lane as of_lane,
       d.shard_id, d.id, d.tenant_id, d.job_id, d.job_version, d.fire_time, d.due_at, d.state, d.priority, d.lane,
       d.attempt, d.retry_count, d.business_key, d.error_msg
from (select * from class limit :class_limit) c
left join lateral (
    select w.shard_id, w.id, w.tenant_id, w.job_id, w.job_version, w.fire_time, w.due_at, w.state, w.priority, w.lane,
           w.attempt, w.retry_count, w.business_key, w.error_msg
    from instance_live w
    where w.state in ('INIT', 'FAIL') and w.tenant_id = c.tenant_id and w.queue = c.queue
      and w.priority = c.priority and w.lane = c.lane
      and w.due_at <= :now and w.shard_id between :first_shard::smallint and :last_shard::smallint
      and ((w.due_at, w.id) > (:after_due_at::timestamptz, :after_id::uuid)
           or (c.tenant_id, c.queue, c.priority, c.lane) <> (:from_tenant_id, :from_queue, :from_priority, :from_lane))
    order by w.due_at, w.id
    limit :limit) d on true
