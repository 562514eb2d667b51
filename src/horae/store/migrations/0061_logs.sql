-- migrate:up

-- The lines that attempts logged, encrypted, some lines a row. `end_line` and `end_byte` count the lines and bytes of
-- the attempt up to the end of the row, also those of rows that were dropped: so a gap says how many are missing.
create table log_batch (
    written_at timestamptz not null,
    end_line bigint not null,
    end_byte bigint not null,
    lines integer not null check (lines > 0),
    attempt integer not null,
    shard_id smallint not null,
    instance_id uuid not null,
    tenant_id uuid not null,
    body jsonb not null,
    primary key (shard_id, instance_id, attempt, end_line, written_at)
) partition by range (written_at);
select raise_wall('log_batch');
grant select, insert, delete on log_batch to horae_api, horae_engine;
grant select on log_batch to horae_readonly;

-- The bytes that a tenant has logged today, as API processes and nodes add them up every few seconds.
create table log_usage (
    bytes bigint not null,
    day date not null,
    tenant_id uuid not null primary key
) with (fillfactor = 50);
select raise_wall('log_usage');
grant select, insert, update on log_usage to horae_api;
grant select, insert, update, delete on log_usage to horae_engine;
grant select on log_usage to horae_readonly;

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
    foreach parent in array array['instance_history', 'outbox', 'instance_result', 'log_batch'] loop
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

-- migrate:down
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
drop table log_usage;
drop table log_batch;
