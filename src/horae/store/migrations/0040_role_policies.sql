-- migrate:up
-- without transaction

-- The roles that serve all tenants see all rows by policies of their own, so that none of them needs BYPASSRLS, which
-- managed services do not grant. What a role may do with a table is still a matter of its grants. A partition is
-- reached through its parent; only its owner also reads it directly, to dump it or to archive it.
create or replace function show_all_rows(secured regclass) returns void
language plpgsql set search_path from current set lock_timeout = '200ms' as $$
declare
    served name;
begin
    for served in
        select r.name from (values ('horae_migrate', true), ('horae_engine', false), ('horae_relay', false)) r(name, owner)
        where (r.owner or not (select relispartition from pg_class where oid = secured))
          and not exists (select from pg_policy where polrelid = secured and polname = r.name)
    loop
        execute format('create policy %I on %s to %I using (true) with check (true)', served, secured, served);
    end loop;
exception
    when undefined_table then null;  -- a day that was dropped meanwhile
end $$;
revoke execute on function show_all_rows(regclass) from public;

create or replace function raise_wall(walled regclass) returns void
language plpgsql set search_path from current as $$
declare
    mine constant text := '(tenant_id is not distinct from (select nullif(current_setting(''horae.tenant'', true), '''')::uuid))';
begin
    execute format('alter table %s enable row level security', walled);
    execute format('alter table %s force row level security', walled);
    if not (select relispartition from pg_class where oid = walled) then  -- a partition is reached through its parent
        execute format('drop policy if exists tenant_wall on %s', walled);
        execute format('create policy tenant_wall on %s using %s with check %s', walled, mine, mine);
    end if;
    perform show_all_rows(walled);
end $$;

-- One table at a time: a policy stops everyone who uses its table for as long as its transaction takes. Where it would
-- have to wait it gives up, and the next try goes on with the tables that are left.
do $$
declare
    secured regclass;
begin
    for secured in
        select oid::regclass from pg_class
        where relrowsecurity and relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace
        order by oid
    loop
        perform show_all_rows(secured);
        commit;
    end loop;
end $$;

-- migrate:down
do $$
declare
    secured regclass;
begin
    for secured in select oid::regclass from pg_class where relrowsecurity loop
        execute format('drop policy if exists horae_migrate on %s', secured);
        execute format('drop policy if exists horae_engine on %s', secured);
        execute format('drop policy if exists horae_relay on %s', secured);
    end loop;
end $$;
