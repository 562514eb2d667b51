-- migrate:up

-- What was counted in a minute, per writer, tenant and class. The cell's own, whatever shards it holds.
-- One node writes what waits (the last two columns); for all others they are null.
create table signal (
    minute timestamptz not null,
    success integer not null default 0,
    failed integer not null default 0,
    dead integer not null default 0,
    skipped integer not null default 0,
    retry_backlog integer,
    backlog integer,
    priority smallint not null,
    lane smallint not null,
    tenant_id uuid not null,
    writer uuid not null,
    delays integer[] not null default '{}',
    primary key (minute, tenant_id, priority, lane, writer)
);

-- migrate:down
drop table signal;
