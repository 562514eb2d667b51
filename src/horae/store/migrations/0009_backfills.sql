-- migrate:up

-- A range of past fires that someone asked for. `cursor` authorises each birth: everything before it is decided.
create table backfill (
    created_at timestamptz not null,
    range_from timestamptz not null,
    range_to timestamptz not null,
    cursor timestamptz not null,
    ended_at timestamptz,
    cap integer not null check (cap > 0),
    planned integer not null,
    born integer not null default 0,
    already integer not null default 0,
    shard_id smallint not null,
    id uuid not null,
    tenant_id uuid not null,
    job_id uuid not null,
    rerun boolean not null,
    status text not null check (status in ('RUNNING', 'DONE', 'CANCELLED')),
    created_by text not null,
    primary key (shard_id, id),
    constraint backfill_range check (range_from <= cursor and cursor <= range_to and range_from < range_to),
    constraint backfill_ended check ((status = 'RUNNING') = (ended_at is null))
) with (fillfactor = 70);
create index backfill_job on backfill (job_id, id);
create index backfill_running on backfill (id) where status = 'RUNNING';

-- migrate:down
drop table backfill;
