-- migrate:up

-- A partition is made beside its parent and then attached: that takes a lock which neither readers nor writers of the
-- parent conflict with, where CREATE … PARTITION OF takes one that stops everyone, and that everyone queues behind while
-- it waits for a long reader. Made in this transaction it is empty, so attaching it reads nothing. What still has to wait
-- gives up soon; whoever called tries again. One does it at a time, the others leave it to that one.
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

-- migrate:down
create or replace function ensure_partitions(first_day date, days integer) returns integer
language plpgsql security definer set search_path from current as $$
declare
    parent text;
    day date;
    made integer := 0;
begin
    foreach parent in array array['instance_history', 'outbox'] loop
        for day in select first_day + n from generate_series(0, days - 1) n loop
            if to_regclass(format('%s_%s', parent, to_char(day, 'YYYYMMDD'))) is null then
                execute format('create table %I partition of %I for values from (%L) to (%L)',
                    format('%s_%s', parent, to_char(day, 'YYYYMMDD')), parent,
                    (day::timestamp at time zone 'UTC'), ((day + 1)::timestamp at time zone 'UTC'));
                perform raise_wall(format('%s_%s', parent, to_char(day, 'YYYYMMDD'))::regclass);
                made := made + 1;
            end if;
        end loop;
    end loop;
    return made;
end $$;
