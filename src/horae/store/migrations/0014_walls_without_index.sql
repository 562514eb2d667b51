-- migrate:up

-- The wall's condition must tempt no plan: as `tenant_id = …` it fits every index that begins with the tenant, and a
-- lookup by key walked through all of a tenant's dead letters instead. No index fits `is not distinct from`.
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
end $$;

do $$
declare
    walled regclass;
begin
    for walled in
        select c.oid::regclass from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
        where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace
        order by c.oid
    loop
        perform raise_wall(walled);
    end loop;
end $$;

-- migrate:down
select 1;
