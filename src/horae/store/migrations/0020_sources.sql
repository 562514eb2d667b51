-- migrate:up

-- Keys are ordered by their bytes in every cell, whatever the locale of its database: what a business system lists in
-- that order can be laid beside our rows page by page. Views name neither column; the indexes over them are built anew.
-- squawk-ignore changing-column-type
alter table instance_live alter column business_key type text collate "C";
-- squawk-ignore changing-column-type
alter table task_key alter column business_key type text collate "C";

-- A business system's own list of what should be pending of a type; at home where its type is. `after_key` and `cursor`
-- are how far the round that runs has come; every write raises `step`, and whoever read another one stops.
create table source (
    changed_at timestamptz not null,
    next_at timestamptz,
    step bigint not null default 1,
    revision integer not null default 1,
    round integer not null default 0,
    failures integer not null default 0,
    shard_id smallint not null,
    id uuid not null,
    tenant_id uuid not null,
    job_id uuid not null,
    running boolean not null default false,
    dry boolean not null default false,
    name text not null,
    changed_by text not null,
    asked text check (asked in ('run', 'dry')),
    pushed text,
    after_key text collate "C" not null default '',
    cursor text,
    spec jsonb not null,
    primary key (shard_id, id),
    unique (shard_id, job_id)
) with (fillfactor = 70);
create index source_tenant on source (tenant_id, name collate "C");
create index source_due on source (next_at) where next_at is not null;
select raise_wall('source');

create table source_round (
    began_at timestamptz not null,
    ended_at timestamptz,
    number integer not null,
    shard_id smallint not null,
    source_id uuid not null,
    tenant_id uuid not null,
    dry boolean not null,
    status text not null check (status in ('RUNNING', 'DONE', 'STOPPED')),
    error text,
    counts jsonb not null default '{}',
    primary key (shard_id, source_id, number),
    constraint source_round_ended check ((status = 'RUNNING') = (ended_at is null))
) with (fillfactor = 70);
select raise_wall('source_round');

-- What a round found to differ and what it did about it, written with the repair itself, in the task's own shard.
-- Without a decision: a dry round, which does nothing.
create table source_repair (
    at timestamptz not null,
    ours timestamptz,
    theirs timestamptz,
    round integer not null,
    shard_id smallint not null,
    id uuid not null,
    tenant_id uuid not null,
    source_id uuid not null,
    business_key text not null,
    found text not null check (found in ('missing', 'drifted', 'orphan')),
    decision text,
    primary key (shard_id, id)
);
create index source_repair_source on source_repair (source_id, id);
select raise_wall('source_repair');

grant select, insert, update, delete on source, source_round to horae_api;
grant select, insert on source_repair to horae_api;
grant select, insert, update, delete on source, source_round, source_repair to horae_engine;
grant select on source, source_round, source_repair to horae_readonly;

-- migrate:down
drop table source_repair, source_round, source;
