-- :after
-- Null: nothing is to come by itself. What is due already is not counted: it is up to whoever looks now.
select min(at) from (
    (select min(next_fire_at) as at from job_cursor where next_fire_at > :after)
    union all
    (select min(due_at) from instance_live where state in ('INIT', 'FAIL') and due_at > :after)
    union all
    (select min(deadline) from instance_live where state = 'RUNNING' and deadline > :after)) as coming
