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

-- migrate:down
drop table calendar;
