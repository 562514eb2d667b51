-- migrate:up

-- The moves of shards out of this cell. `step` is what is to be done next; a coordinator does it while its lease lasts.
-- `source_epoch` is the epoch of the freeze here, `target_epoch` the one that the target gave to this coordinator: it
-- takes rows and the activation only under that epoch. `left_at` says until when the shard was active here: history
-- that was written before is found here.
create table shard_move (
    requested_at timestamptz not null,
    changed_at timestamptz not null,
    lease_until timestamptz not null,
    frozen_at timestamptz,
    left_at timestamptz,
    ended_at timestamptz,
    source_epoch bigint,
    target_epoch bigint,
    rows_copied bigint not null default 0,
    pause_ms integer,
    shard_id smallint not null,
    id uuid not null,
    coordinator uuid,
    abort_requested boolean not null default false,
    target text not null check (length(target) between 1 and 120),
    requested_by text not null,
    step text not null default 'COPY' check (step in ('COPY', 'FREEZE', 'WAIT', 'CATCH_UP', 'COMPARE', 'ACTIVATE',
        'DELETE', 'DONE', 'CLEAN', 'ABORTED')),
    error text,
    primary key (shard_id, id),
    check ((ended_at is null) = (step not in ('DONE', 'ABORTED')))
) with (fillfactor = 50);
-- A shard has one move at a time.
create unique index shard_move_unfinished on shard_move (shard_id) where ended_at is null;
grant select, insert, update on shard_move to horae_api;
grant select on shard_move to horae_engine, horae_relay, horae_readonly;

-- migrate:down
drop table shard_move;
