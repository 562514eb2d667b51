-- migrate:up

-- In which order the events of a transaction were written, and what tells two of them apart. Rows of an older release
-- have none.
create sequence outbox_number as bigint;
alter table outbox add column number bigint;
alter table outbox alter column number set default nextval('outbox_number');
grant usage on sequence outbox_number to horae_api, horae_engine, horae_relay;

-- Ways that events take out of and into a cell: subscriptions and intakes. Row and copies are the same: a higher version
-- replaces a lower one. Without a body: it was removed, and its copies are to hear of it.
create table channel (
    created_at timestamptz not null,
    changed_at timestamptz not null,
    version integer not null default 1,
    shard_id smallint not null,
    id uuid not null,
    tenant_id uuid not null,
    kind text not null check (kind in ('subscription', 'intake')),
    name text not null check (length(name) between 1 and 120),
    changed_by text not null,
    body jsonb,
    primary key (shard_id, tenant_id, kind, name)
);
create index channel_changed on channel (changed_at);
create index channel_standing on channel (kind, id) where body is not null;
select raise_wall('channel');

-- How far a subscription was told what happened in a block of this cell's shards: everything of transactions below `xid`.
-- `at`: nothing older than this is to be told. From `skip_from` on it goes on at `skip_to`: between them it was told
-- before. Whoever moves it names the revision he read.
create table feed_position (
    at timestamptz not null,
    moved_at timestamptz not null,
    xid bigint not null,
    skip_from bigint,
    skip_to bigint,
    revision bigint not null default 1,
    sent bigint not null default 0,
    block smallint not null check (block between 0 and 63),
    channel_id uuid not null,
    tenant_id uuid not null,
    error text,
    primary key (channel_id, block),
    constraint feed_position_skip check ((skip_from is null) = (skip_to is null) and skip_from <= skip_to)
) with (fillfactor = 50);
select raise_wall('feed_position');

-- Which transactions had ended at a time: every one below `xid`. It leads from a time to where a replay begins.
create table feed_mark (
    at timestamptz primary key,
    xid bigint not null
);

insert into feed_mark (at, xid) select now(), txid_snapshot_xmin(txid_current_snapshot());

grant select, insert, update on channel to horae_api;
grant select, insert, update on channel to horae_engine;
grant select, insert, update, delete on feed_position to horae_api, horae_relay;
grant select on feed_mark to horae_api;
grant select, insert, delete on feed_mark to horae_relay;
grant select on channel to horae_relay, horae_readonly;
grant select on feed_position to horae_readonly;

-- migrate:down
drop table feed_mark, feed_position, channel;
-- squawk-ignore ban-drop-column
alter table outbox drop column number;
-- squawk-ignore ban-drop-sequence
drop sequence outbox_number;
