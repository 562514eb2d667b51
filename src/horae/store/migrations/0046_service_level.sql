-- migrate:up

-- Due times whose fires were in time and whose were late, in the minute, hour and day of the due time, per tenant and
-- priority. Nobody's rows (the nil UUID) are the sums of all tenants.
create table service_level (
    begins_at timestamptz not null,
    in_time bigint not null,
    late bigint not null,
    tenant_id uuid not null,
    step_minutes smallint not null,
    priority smallint not null,
    primary key (tenant_id, step_minutes, begins_at, priority)
);
create index service_level_age on service_level (step_minutes, begins_at);
select raise_wall('service_level');
create policy platform on service_level
using ((select current_setting('horae.platform', true)) = 'on')
with check ((select current_setting('horae.platform', true)) = 'on');
grant select, insert, update, delete on service_level to horae_api, horae_engine;
grant select on service_level to horae_readonly;

-- Health names the targets for which calls of any tenant wait.
create policy platform on hold for select using ((select current_setting('horae.platform', true)) = 'on');

-- What is overdue in shards that no living node holds, of one tenant or of all: numbers only. The API counts for all
-- tenants with it, although it sees the rows of one tenant at a time. The rows of paused and removed tenants are left
-- out.
create function overdue_fires(now_at timestamptz, due_before timestamptz, of_tenant uuid, most integer)
returns table (priority smallint, overdue integer)
language sql stable security definer set search_path from current as $$
    with unheld as materialized (
        select s.shard_id::int as shard_id from shard s
        where s.state = 'ACTIVE'
          and not exists (select from node n where n.incarnation = s.owner and n.expires_at > now_at)),
    held as materialized (
        select r.id from reference r
        where r.kind = 'tenant' and r.body ? 'held' and r.body -> 'held' ->> 'status' <> 'ACTIVE')
    select p.priority::smallint, (f.fires + i.instances)::int
    from generate_series(0, 2) as p(priority)
    cross join lateral (
        select count(*) as fires from (
            select from job_cursor c
            where c.priority = p.priority and c.next_fire_at <= due_before
              and (of_tenant is null or c.tenant_id = of_tenant)
              and c.shard_id::int in (select u.shard_id from unheld u)
              and c.tenant_id not in (select h.id from held h)
            order by c.next_fire_at limit most) c) f
    cross join lateral (
        select count(*) as instances from (
            select from instance_live l
            where l.state in ('INIT', 'FAIL') and l.queue is null and l.priority = p.priority and l.lane = 0
              and l.due_at <= due_before and l.attempt = 0 and (of_tenant is null or l.tenant_id = of_tenant)
              and l.shard_id::int in (select u.shard_id from unheld u)
              and l.tenant_id not in (select h.id from held h)
            order by l.due_at limit most) l) i
    where exists (select from unheld)
$$;
revoke execute on function overdue_fires(timestamptz, timestamptz, uuid, integer) from public;
grant execute on function overdue_fires(timestamptz, timestamptz, uuid, integer) to horae_api, horae_engine;

-- migrate:down
drop policy platform on hold;
drop function overdue_fires(timestamptz, timestamptz, uuid, integer);
drop table service_level;
