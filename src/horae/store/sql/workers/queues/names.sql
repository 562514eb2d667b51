-- :tenant_id :after_name :limit :live_limit
-- The queues of a tenant in this cell after a name: those of its jobs, those that workers poll, and those in which
-- something still waits although no job names them any more. Each name costs one descent of an index, however many rows
-- have it. Names are compared byte by byte, so that all cells agree; the index of what waits has the order of its
-- database, so its names are read from the beginning, :live_limit of them.
with recursive of_job as (
    (select (j.definition -> 'target' ->> 'name') collate "C" as name from job j
     where j.tenant_id = :tenant_id and j.status <> 'REMOVED' and j.definition -> 'target' ->> 'kind' = 'queue'
       and (j.definition -> 'target' ->> 'name') collate "C" > :after_name
     order by (j.definition -> 'target' ->> 'name') collate "C"
     limit 1)
    union all
    select n.name from of_job f
    cross join lateral (
        select (j.definition -> 'target' ->> 'name') collate "C" as name from job j
        where j.tenant_id = :tenant_id and j.status <> 'REMOVED' and j.definition -> 'target' ->> 'kind' = 'queue'
          and (j.definition -> 'target' ->> 'name') collate "C" > f.name
        order by (j.definition -> 'target' ->> 'name') collate "C"
        limit 1) n),
polled as (
    (select w.queue as name from queue_worker w where w.tenant_id = :tenant_id and w.queue > :after_name
     order by w.queue limit 1)
    union all
    select n.queue from polled f
    cross join lateral (
        select w.queue from queue_worker w where w.tenant_id = :tenant_id and w.queue > f.name
        order by w.queue limit 1) n),
live as (
    (select q.queue as name from instance_live q
     where q.state in ('INIT', 'FAIL') and q.tenant_id = :tenant_id and q.queue is not null
     order by q.queue limit 1)
    union all
    select n.queue from live f
    cross join lateral (
        select q.queue from instance_live q
        where q.state in ('INIT', 'FAIL') and q.tenant_id = :tenant_id and q.queue > f.name
        order by q.queue limit 1) n)
select found.name from (
    (select name collate "C" as name from of_job limit :limit)
    union
    (select name from polled limit :limit)
    union
    (select name collate "C" from (select name from live limit :live_limit) l where name collate "C" > :after_name)
) found
order by found.name
limit :limit
