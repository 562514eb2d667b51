-- :after
-- Always one row. A null time: nothing happens by itself. Quiet: until then nothing can happen at all, because nothing
-- is due or in work now, no tenant is held, and no backfill and no rolling job is active.
select (select min(at) from (
            (select min(next_fire_at) as at from job_cursor where next_fire_at > :after)
            union all
            (select min(due_at) from instance_live where state in ('INIT', 'FAIL') and due_at > :after)
            union all
            (select min(deadline) from instance_live where state = 'RUNNING' and deadline > :after)
            union all
            (select min(deadline_at) from graph_run where ended_at is null and deadline_at > :after)) as coming) as at,
       not exists (select from job_cursor where next_fire_at <= :after)
       and not exists (select from instance_live where state not in ('INIT', 'FAIL') or due_at <= :after)
       and not exists (select from backfill where status = 'RUNNING')
       and not exists (select from reference r
                       where r.kind = 'job' and r.body -> 'definition' -> 'trigger' ->> 'kind' = 'rolling'
                         and r.body ->> 'status' = 'ACTIVE')
       and not exists (select from reference t where t.kind = 'tenant' and t.body ? 'held') as quiet
