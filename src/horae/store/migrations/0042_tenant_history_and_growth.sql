-- migrate:up

-- The list of a tenant's instances by fire time. Over no day yet: new days get it as they are made, and `horae migrate`
-- then builds it for each day that is there, concurrently, so that nobody waits.
-- squawk-ignore require-concurrent-index-creation
create index instance_history_tenant on only instance_history (tenant_id, fire_time);

-- The last measurement of the sizes of this cell.
create table growth (
    measured_at timestamptz not null,
    only_row boolean primary key default true check (only_row),
    facts text not null
);
grant select on growth to horae_api, horae_engine, horae_readonly;

-- migrate:down
drop table growth;
-- squawk-ignore require-concurrent-index-deletion
drop index instance_history_tenant;
