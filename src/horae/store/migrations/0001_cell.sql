-- migrate:up

-- What this database is. The name and the environment are written once, by `horae migrate`.
create table cell (
    only_row boolean primary key default true check (only_row),
    name text not null,
    environment text not null check (environment in ('production', 'dev', 'test'))
);

-- Moves time for every process at once. The statement that writes it refuses outside `dev` and `test`.
-- `vouches` counts how often a person said that the database's clock is right after it jumped.
create table clock_offset (
    offset_ms bigint not null default 0,
    vouches bigint not null default 0,
    only_row boolean primary key default true check (only_row)
);
insert into clock_offset default values;

-- Every cell knows all 4,096 shards: a shard without a row would pass the fence unseen.
create table shard (
    epoch bigint not null default 0,
    shard_id smallint primary key check (shard_id between 0 and 4095),
    owner uuid,
    state text not null default 'ELSEWHERE' check (state in ('ACTIVE', 'FROZEN', 'ELSEWHERE')),
    check (owner is null or state = 'ACTIVE')
) with (fillfactor = 50);
insert into shard (shard_id) select generate_series(0, 4095);
-- The fence: it looks only for shards that are closed here, and finds none.
create index shard_closed on shard (shard_id) where state <> 'ACTIVE';

create table node (
    started_at timestamptz not null,
    seen_at timestamptz not null,
    expires_at timestamptz not null,
    incarnation uuid primary key,
    draining boolean not null default false,
    name text not null
) with (fillfactor = 50);

-- migrate:down
drop table node, shard, clock_offset, cell;
