-- migrate:up

-- A run of a graph: its id is that of the instance of the graph's job, in the same shard. `stale`: a step has changed
-- since nodes last decided about the run. `blocked`: at least one step waits for a person.
create table graph_run (
    fire_time timestamptz not null,
    started_at timestamptz not null,
    deadline_at timestamptz not null,
    ended_at timestamptz,
    job_version integer not null,
    attempt integer not null,
    shard_id smallint not null,
    id uuid not null,
    tenant_id uuid not null,
    job_id uuid not null,
    token uuid not null,
    stale boolean not null default true,
    blocked boolean not null default false,
    state text not null default 'OPEN' check (state in ('OPEN', 'SUCCESS', 'DEAD', 'CANCELLED', 'SKIPPED')),
    primary key (shard_id, id),
    constraint graph_run_ended check ((state = 'OPEN') = (ended_at is null))
) with (fillfactor = 70);
create index graph_run_open on graph_run (deadline_at, (shard_id::int)) where ended_at is null;
create index graph_run_stale on graph_run (id, (shard_id::int)) where stale and ended_at is null;
create index graph_run_job on graph_run (job_id, id);
select raise_wall('graph_run');

-- The steps of a run, in the order of the graph. `generation` counts how often a step was run again after a success.
create table graph_step (
    changed_at timestamptz not null,
    generation integer not null default 0,
    shard_id smallint not null,
    position smallint not null,
    run_id uuid not null,
    tenant_id uuid not null,
    instance_id uuid,
    name text not null,
    state text not null default 'WAITING' check (state in ('WAITING', 'BLOCKED', 'RELEASED', 'SUCCESS', 'DEAD',
        'CANCELLED', 'SKIPPED', 'WAIVED')),
    reason text,
    primary key (shard_id, run_id, position),
    constraint graph_step_released check (state <> 'RELEASED' or instance_id is not null)
) with (fillfactor = 70);
create index graph_step_released on graph_step (shard_id, instance_id) where state = 'RELEASED';
select raise_wall('graph_step');

grant select, update on graph_run, graph_step to horae_api;
grant select, insert, update, delete on graph_run, graph_step to horae_engine;
grant select on graph_run, graph_step to horae_readonly;

-- migrate:down
drop table graph_step;
drop table graph_run;
