-- :priority :due_before :limit
-- One row. Counts fires at their cursor, and first attempts that wait. What a person has paused is not overdue.
with held as materialized (
    select r.id from reference r
    where r.kind = 'tenant' and r.body ? 'held' and r.body -> 'held' ->> 'status' <> 'ACTIVE'),
paused as materialized (select r.id from reference r where r.kind = 'job' and r.body ->> 'status' = 'PAUSED')
select coalesce(sum(f.fires + i.instances), 0)::int
from generate_series(0, :priority::int) as class(priority)
cross join lateral (
    select count(*) as fires from (
        select from job_cursor c
        where c.priority = class.priority and c.next_fire_at < :due_before
          and c.tenant_id not in (select h.id from held h)
        order by c.next_fire_at limit :limit) c) f
cross join lateral (
    select count(*) as instances from (
        select from instance_live l
        where l.state in ('INIT', 'FAIL') and l.queue is null and l.priority = class.priority and l.lane = 0
          and l.due_at < :due_before and l.attempt = 0
          and l.tenant_id not in (select h.id from held h) and l.job_id not in (select p.id from paused p)
        order by l.due_at limit :limit) l) i
