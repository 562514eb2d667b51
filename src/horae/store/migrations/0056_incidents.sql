-- migrate:up

-- The incidents that were started in this cell: the first cell that answered then. `step` is what is to be done next;
-- a coordinator does it while its lease lasts. `fault_at` says when the trouble began.
create table incident (
    fault_at timestamptz not null,
    started_at timestamptz not null,
    changed_at timestamptz not null,
    lease_until timestamptz not null,
    ended_at timestamptz,
    id uuid not null primary key,
    coordinator uuid,
    stop_requested boolean not null default false,
    grade text not null check (grade in ('P1', 'P2')),
    step text not null default 'FREEZE' check (step in ('FREEZE', 'REACH_CELLS', 'HOLD_SHARDS', 'FIRE_CRITICAL',
        'CATCH_UP', 'REPLAY_EVENTS', 'REQUEUE', 'AUDIT', 'LIFT', 'ENDED')),
    result text check (result in ('RECOVERY_COMPLETED', 'STOPPED')),
    reason text not null,
    started_by text not null,
    error text,
    check ((ended_at is null) = (step <> 'ENDED') and (ended_at is null) = (result is null))
) with (fillfactor = 50);
-- A cell has one open incident at a time.
create unique index incident_open on incident ((ended_at is null)) where ended_at is null;
grant select, insert, update on incident to horae_api;
grant select on incident to horae_engine, horae_relay, horae_readonly;

-- What recovery did in this cell. A row is written by the transaction that does the thing, so each thing is done once:
-- `part` names a page of a step, and is empty at the end of the step.
create table incident_entry (
    at timestamptz not null,
    incident_id uuid not null,
    step text not null,
    part text collate "C" not null default '',
    facts jsonb not null,
    primary key (incident_id, step, part)
);
grant select, insert on incident_entry to horae_api;
grant select on incident_entry to horae_engine, horae_relay, horae_readonly;

-- migrate:down
drop table incident_entry;
drop table incident;
