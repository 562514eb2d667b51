-- migrate:up

-- Shared days: workdays, holidays, trading days. At home here, copied to every cell as a reference row.
create table calendar (
    created_at timestamptz not null,
    changed_at timestamptz not null,
    version integer not null default 1,
    shard_id smallint not null,
    id uuid not null,
    tenant_id uuid not null,
    name text not null check (length(name) between 1 and 120),
    body jsonb not null,
    primary key (shard_id, id),
    unique (shard_id, tenant_id, name)
);

alter table reference drop constraint reference_kind_check;
alter table reference add constraint reference_kind check (kind in ('tenant', 'job', 'calendar')) not valid;
alter table reference validate constraint reference_kind;

-- How often a job has fired, for schedules that end after so many. Constant default: no rewrite.
alter table job_cursor add column fired integer not null default 0;

-- migrate:down
alter table job_cursor drop column fired;
delete from reference where kind = 'calendar';
alter table reference drop constraint reference_kind;
alter table reference add constraint reference_kind_check check (kind in ('tenant', 'job'));
drop table calendar;
