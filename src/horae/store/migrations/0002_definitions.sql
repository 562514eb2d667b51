-- migrate:up

create table tenant (
    created_at timestamptz not null,
    version integer not null default 1,
    width integer not null check (width in (1, 4, 16, 64, 256, 4096)),
    shard_id smallint not null,
    id uuid not null,
    name text not null check (length(name) between 1 and 60),
    zone text not null,
    allowance jsonb not null default '{}',
    primary key (shard_id, id),
    unique (shard_id, name)
);

-- Wide, versioned, rarely written. What moves at each fire is in job_cursor.
create table job (
    created_at timestamptz not null,
    changed_at timestamptz not null,
    held_from timestamptz,
    version integer not null default 1,
    shard_id smallint not null,
    id uuid not null,
    tenant_id uuid not null,
    name text not null check (length(name) between 1 and 120),
    status text not null check (status in ('ACTIVE', 'PAUSED', 'COMPLETED', 'REMOVED')),
    definition jsonb not null,
    primary key (shard_id, id),
    check (held_from is null or status = 'PAUSED')
);
create unique index job_name on job (shard_id, tenant_id, name) where status <> 'REMOVED';
create index job_listing on job (tenant_id, name) where status <> 'REMOVED';
-- Few jobs name a calendar; a calendar that changes asks for all of them.
create index job_calendar on job (tenant_id, id) where status = 'ACTIVE' and definition -> 'policies' ? 'calendars';
create index job_paused on job (tenant_id, id) where status = 'PAUSED';

create table job_version (
    created_at timestamptz not null,
    version integer not null,
    shard_id smallint not null,
    job_id uuid not null,
    tenant_id uuid not null,
    name text not null,
    created_by text not null,
    definition jsonb not null,
    primary key (shard_id, job_id, version)
);

-- Narrow: one index entry and a few bytes per fire. No row: the job has no cursor (tasks, manual).
create table job_cursor (
    next_fire_at timestamptz,
    version integer not null,
    fired integer not null default 0,
    shard_id smallint not null,
    priority smallint not null check (priority between 0 and 2),
    job_id uuid not null,
    tenant_id uuid not null,
    primary key (shard_id, job_id)
) with (fillfactor = 80, autovacuum_vacuum_cost_delay = 0);
-- Time first; the shard is filtered inside the index. It is cast, so that only this index matches the scan's
-- condition and the planner cannot be tempted by the primary key. The job comes last: a fire finds its cursor here by
-- the time it stood at, and meets none of its older versions, which a held snapshot keeps from being vacuumed.
create index job_cursor_due on job_cursor (priority, next_fire_at, (shard_id::int), job_id);

-- Tenants and types, readable in every cell: written with the change at home, copied to the others.
create table reference (
    changed_at timestamptz not null,
    version integer not null,
    home_shard smallint not null,
    id uuid not null,
    tenant_id uuid not null,
    kind text not null check (kind in ('tenant', 'job', 'calendar')),
    name text not null,
    body jsonb not null,
    primary key (kind, id)
);
create index reference_name on reference (tenant_id, kind, name);
create index reference_changed on reference (changed_at);
-- Asked for at every claim.
create index reference_paused on reference (tenant_id, id) where kind = 'job' and body ->> 'status' = 'PAUSED';

-- migrate:down
drop table reference, job_cursor, job_version, job, tenant;
