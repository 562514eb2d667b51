-- migrate:up

-- `cause_id`: the failure cause, which a duty works out; null until then, and again when a replay has died.
-- `tags`: what people have put on it. `paced_replay_id`: the paced replay that took it last; `paced_refused`: that one
-- could not send it.
alter table dead_letter add column cause_id uuid;
alter table dead_letter add column tags text[];
alter table dead_letter add column paced_replay_id uuid;
alter table dead_letter add column paced_refused boolean;

-- A paced replay: the dead letters that match and died before `created_at` are sent again, `pace` a second. A node
-- that moves `next_at` may do the next step. Counts are those of the last step: the dead letters are the truth.
create table paced_replay (
    created_at timestamptz not null,
    next_at timestamptz not null,
    ended_at timestamptz,
    most integer not null check (most > 0),
    pace integer not null check (pace > 0),
    canary integer not null check (canary >= 0),
    max_failures integer check (max_failures >= 0),
    outstanding integer not null default 0,
    succeeded integer not null default 0,
    failed integer not null default 0,
    returned integer not null default 0,
    refused integer not null default 0,
    shard_id smallint not null,
    id uuid not null,
    tenant_id uuid not null,
    job_id uuid,
    cause_id uuid,
    tag text,
    error_code text,
    status text not null check (status in ('CANARY', 'RUNNING', 'COMPLETED', 'STOPPED')),
    waits_for text,
    ended_because text,
    created_by text not null,
    primary key (shard_id, id),
    constraint paced_replay_wanted check (num_nonnulls(job_id, cause_id, tag, error_code) > 0),
    constraint paced_replay_ended check ((status in ('COMPLETED', 'STOPPED')) = (ended_at is not null))
) with (fillfactor = 50);
create index paced_replay_running on paced_replay (next_at) where ended_at is null;
create index paced_replay_tenant on paced_replay (tenant_id, id);
select raise_wall('paced_replay');
grant select, insert, update on paced_replay to horae_api;
grant select, update on paced_replay to horae_engine;
grant select on paced_replay to horae_readonly;

-- migrate:down
drop table paced_replay;
-- squawk-ignore ban-drop-column
alter table dead_letter drop column paced_refused;
-- squawk-ignore ban-drop-column
alter table dead_letter drop column paced_replay_id;
-- squawk-ignore ban-drop-column
alter table dead_letter drop column tags;
-- squawk-ignore ban-drop-column
alter table dead_letter drop column cause_id;
