-- migrate:up

-- What attempts returned, encrypted, by the day of their instance's end. Written by the transaction that ends it.
create table instance_result (
    ended_at timestamptz not null,
    shard_id smallint not null,
    instance_id uuid not null,
    tenant_id uuid not null,
    body jsonb not null,
    primary key (shard_id, instance_id, ended_at)
) partition by range (ended_at);
select raise_wall('instance_result');
grant select, insert on instance_result to horae_api, horae_engine;
grant select on instance_result to horae_readonly;

-- How far the running attempt is, as its worker last said. Null for most.
alter table instance_live add column progress jsonb;

create or replace function ensure_partitions(first_day date, days integer) returns integer
language plpgsql security definer set search_path from current set lock_timeout = '200ms' as $$
declare
    parent text;
    partition text;
    day date;
    made integer := 0;
begin
    if not pg_try_advisory_xact_lock(7023015612) then
        return 0;
    end if;
    foreach parent in array array['instance_history', 'outbox', 'instance_result'] loop
        for day in select first_day + n from generate_series(0, days - 1) n loop
            partition := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
            if to_regclass(partition) is null then
                execute format('create table %I (like %I including all)', partition, parent);
                execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, partition,
                    (day::timestamp at time zone 'UTC'), ((day + 1)::timestamp at time zone 'UTC'));
                perform raise_wall(partition::regclass);
                made := made + 1;
            end if;
        end loop;
    end loop;
    return made;
end $$;

-- The table has a row for each kind of days.
-- squawk-ignore ban-drop-constraint
alter table dropped_day drop constraint dropped_day_parent_check;
-- squawk-ignore constraint-missing-not-valid
alter table dropped_day add constraint dropped_day_parent_check
check (parent in ('instance_history', 'outbox', 'instance_result', 'log_batch'));

-- migrate:down
delete from dropped_day where parent not in ('instance_history', 'outbox');
-- squawk-ignore ban-drop-constraint
alter table dropped_day drop constraint dropped_day_parent_check;
-- squawk-ignore constraint-missing-not-valid
alter table dropped_day add constraint dropped_day_parent_check
check (parent in ('instance_history', 'outbox'));
create or replace function ensure_partitions(first_day date, days integer) returns integer
language plpgsql security definer set search_path from current set lock_timeout = '200ms' as $$
declare
    parent text;
    partition text;
    day date;
    made integer := 0;
begin
    if not pg_try_advisory_xact_lock(7023015612) then
        return 0;
    end if;
    foreach parent in array array['instance_history', 'outbox'] loop
        for day in select first_day + n from generate_series(0, days - 1) n loop
            partition := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
            if to_regclass(partition) is null then
                execute format('create table %I (like %I including all)', partition, parent);
                execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, partition,
                    (day::timestamp at time zone 'UTC'), ((day + 1)::timestamp at time zone 'UTC'));
                perform raise_wall(partition::regclass);
                made := made + 1;
            end if;
        end loop;
    end loop;
    return made;
end $$;
-- squawk-ignore ban-drop-column
alter table instance_live drop column progress;
drop table instance_result;
