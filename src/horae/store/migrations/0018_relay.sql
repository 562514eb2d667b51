-- migrate:up

-- How far the events of a shard were relayed: every one of a transaction below this was. Written only when there was one.
create table relay (
    xid bigint not null,
    shard_id smallint primary key
);
create index outbox_compensation on outbox (xid) where event = 'COMPENSATION_ASKED';
grant select, insert, update on relay to horae_relay;

-- migrate:down
-- squawk-ignore require-concurrent-index-deletion
drop index outbox_compensation;
drop table relay;
