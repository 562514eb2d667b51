-- migrate:up

-- Who connects. Made here where the migrating role may; otherwise an administrator makes them once per server, as the
-- page "Database roles" says. None has a password: until it gets one, nobody logs in.
do $$
declare
    role record;
begin
    for role in select * from (values
        ('horae_migrate', 'bypassrls'), ('horae_engine', 'bypassrls'), ('horae_relay', 'bypassrls'),
        ('horae_api', 'nobypassrls'), ('horae_readonly', 'nobypassrls')) r(name, bypass)
        where not exists (select from pg_roles p where p.rolname = r.name)
    loop
        begin
            execute format('create role %I login nosuperuser nocreatedb nocreaterole noreplication %s', role.name, role.bypass);
            if role.name = 'horae_engine' then
                grant pg_read_all_stats, pg_signal_backend to horae_engine;  -- sees and ends what holds a cell back
            elsif role.name = 'horae_api' then
                -- A pooler passes no settings of ours on, so the role brings them.
                alter role horae_api set statement_timeout = '5s';
                alter role horae_api set idle_in_transaction_session_timeout = '10s';
                alter role horae_api set plan_cache_mode = 'force_generic_plan';
                alter role horae_api set enable_seqscan = 'off';
                alter role horae_api set enable_bitmapscan = 'off';
                alter role horae_api set enable_hashjoin = 'off';
                alter role horae_api set enable_mergejoin = 'off';
                alter role horae_api set jit = 'off';
            elsif role.name = 'horae_readonly' then
                alter role horae_readonly set default_transaction_read_only = 'on';
                alter role horae_readonly set statement_timeout = '60s';
            end if;
        exception
            when duplicate_object or unique_violation then null;  -- another cell of this server was migrated meanwhile
            when insufficient_privilege then
                raise exception 'role % is missing and % may not create it', role.name, current_user
                using hint = 'make the roles first, as the page "Database roles" (docs/database-roles.md) says';
        end;
    end loop;
end $$;

-- Puts a table behind the wall: what a transaction sees and writes is its tenant's. Nothing is set: nothing is seen.
create function raise_wall(walled regclass) returns void
language plpgsql set search_path from current as $$
begin
    execute format('alter table %s enable row level security', walled);
    execute format('alter table %s force row level security', walled);
    if not (select relispartition from pg_class where oid = walled) then  -- a partition is reached through its parent
        execute format('create policy tenant_wall on %s '
            'using (tenant_id = (select nullif(current_setting(''horae.tenant'', true), '''')::uuid)) '
            'with check (tenant_id = (select nullif(current_setting(''horae.tenant'', true), '''')::uuid))', walled);
    end if;
end $$;
revoke execute on function raise_wall(regclass) from public;

do $$
declare
    walled regclass;
begin
    for walled in
        select c.oid::regclass from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
        where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
        order by c.oid
    loop
        perform raise_wall(walled);
    end loop;
end $$;

-- A tenant is its own. The platform manages all tenants, carries keys and bindings to other cells, writes signals of all.
alter table tenant enable row level security;
alter table tenant force row level security;
create policy tenant_wall on tenant
using (id = (select nullif(current_setting('horae.tenant', true), '')::uuid))
with check (id = (select nullif(current_setting('horae.tenant', true), '')::uuid));
create policy platform on tenant for select using ((select current_setting('horae.platform', true)) = 'on');
create policy platform on api_key
using ((select current_setting('horae.platform', true)) = 'on')
with check ((select current_setting('horae.platform', true)) = 'on');
create policy platform on role_binding
using ((select current_setting('horae.platform', true)) = 'on')
with check ((select current_setting('horae.platform', true)) = 'on');
create policy platform on signal
using ((select current_setting('horae.platform', true)) = 'on')
with check ((select current_setting('horae.platform', true)) = 'on');
-- Who shows a key is not known yet: of all keys there is that one.
create policy shown on api_key for select using (id = (select nullif(current_setting('horae.key', true), '')::uuid));
-- Nobody's row says when what waits was last counted.
create policy counted on signal for select using (tenant_id = '00000000-0000-0000-0000-000000000000');

-- Only through functions of the owner: no other role creates or drops tables.
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
revoke execute on function ensure_partitions(date, integer) from public;
grant execute on function ensure_partitions(date, integer) to horae_engine;

-- Rights, as narrow as the work is. A temporary table could stand in for one of ours in a function of the owner.
do $$
begin
    execute format('revoke temporary on database %I from public', current_database());
end $$;
grant select on cell, clock_offset, shard, node, schema_migration to horae_api, horae_engine, horae_relay, horae_readonly;

grant select, insert, update on tenant, job, calendar, reference, task_key, dead_letter, idempotency, backfill, api_key, role_binding to horae_api;
grant select, insert on job_version, instance_history, audit_log to horae_api;
grant select, insert, update, delete on job_cursor, instance_live, quota_bucket, quota_hold, signal to horae_api;
grant insert on outbox to horae_api;

grant update on clock_offset to horae_engine;
grant select, insert, update, delete on node to horae_engine;
grant update on shard to horae_engine;
grant select on tenant, job_version, calendar to horae_engine;
grant select, insert, update on job, reference, task_key, dead_letter, backfill to horae_engine;
grant select, insert, update, delete on job_cursor, instance_live, quota_bucket, quota_hold, signal to horae_engine;
grant select, insert on instance_history, outbox to horae_engine;
grant insert on audit_log to horae_engine;

grant select on instance_history, outbox, reference to horae_relay;

grant select on tenant, job, job_version, job_cursor, calendar, reference, instance_live, instance_history, task_key,
    dead_letter, audit_log, backfill, signal, job_definition, job_instance, retry_entry, dlq_entry to horae_readonly;

-- migrate:down
do $$
declare
    walled regclass;
begin
    for walled in select oid::regclass from pg_class where relforcerowsecurity loop
        execute format('drop policy if exists tenant_wall on %s', walled);
        execute format('drop policy if exists platform on %s', walled);
        execute format('drop policy if exists shown on %s', walled);
        execute format('drop policy if exists counted on %s', walled);
        execute format('alter table %s disable row level security', walled);
        execute format('alter table %s no force row level security', walled);
    end loop;
end $$;
